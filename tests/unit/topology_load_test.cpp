// SPDX-License-Identifier: Apache-2.0
// Reading synthetic descriptions and recorded machines.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "synthetic.hpp"

// Null unless built with the leak sanitizer.
extern "C" void __lsan_disable() __attribute__((weak));
extern "C" void __lsan_enable() __attribute__((weak));

namespace nigh {
namespace {

using nigh::tests::synthetic;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

topology recorded(std::string const& name) {
  return topology::from_xml(std::string(NIGH_TEST_DATA "/topology/") + name).value();
}

bool allowed(topology_object const& o, topology_object::kind type, int os_index) {
  if (o.type == type && o.os_index == os_index) return o.allowed;
  for (auto const& child : o.children)
    if (allowed(child, type, os_index)) return true;
  return false;
}

TEST(FromSynthetic, FindsDomainsCoresAndCpus) {
  auto const t = synthetic("pack:4 numa:1 core:2 pu:2");
  EXPECT_EQ(t.cpus().size(), 16u);
  EXPECT_EQ(t.cores(), 8);
  ASSERT_EQ(t.domains().size(), 4u);
  EXPECT_EQ(t.cpu_domains(), 4);
  EXPECT_THAT(t.domains()[1].cpus, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(t.domains()[1].os_node, 1);
  EXPECT_EQ(t.domains()[1].memory_bytes, gib);
  EXPECT_FALSE(t.is_this_host());
  EXPECT_FALSE(t.has_firmware_distances());
}

TEST(FromSynthetic, KeepsHardwareOrderWhenLinuxNumbersCpusOtherwise) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)");
  EXPECT_THAT(t.cpus(), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(t.domains()[1].cpus, ElementsAre(2, 6, 3, 7));
  EXPECT_THAT(t.smt_siblings(6), ElementsAre(2, 6));
}

TEST(FromSynthetic, ReadsOneCpu) {
  auto const t = synthetic("pu:1");
  EXPECT_THAT(t.cpus(), ElementsAre(0));
  EXPECT_EQ(t.cores(), 1);
  EXPECT_EQ(t.cpu_domains(), 1);
  EXPECT_EQ(t.distance(0, 0), 10);
}

TEST(FromSynthetic, ReadsAThousandCpus) {
  auto const t = synthetic("pack:8 numa:4 core:16 pu:2");
  EXPECT_EQ(t.cpus().size(), 1024u);
  EXPECT_EQ(t.domains().size(), 32u);
}

TEST(FromSynthetic, RefusesWhatIsNoMachineInOneLine) {
  for (std::string const bad : {"", "pack", "pack:0", "pack:-1 pu:1", "nonsense:3 pu:1",
                                "pack:2\npu", "pack:2 core:2 pu:1 x"}) {
    auto const t = topology::from_synthetic(bad);
    ASSERT_FALSE(t.ok()) << bad;
    EXPECT_THAT(t.message(), HasSubstr("synthetic \"" + bad.substr(0, 4)));
    EXPECT_THAT(t.message(), Not(HasSubstr("\n")));
  }
}

TEST(FromSynthetic, RefusesWhatWouldTakeMinutes) {
  for (auto const* huge : {"pack:100000 core:1000", "core:16385", "pu:99999999999999999999"}) {
    auto const t = topology::from_synthetic(huge);
    ASSERT_FALSE(t.ok()) << huge;
    EXPECT_THAT(t.message(), HasSubstr("16384"));
  }
}

TEST(FromXml, TakesDistancesFromTheFirmware) {
  auto const t = recorded("four_socket_ring.xml");
  ASSERT_EQ(t.domains().size(), 4u);
  EXPECT_TRUE(t.has_firmware_distances());
  EXPECT_EQ(t.distance(0, 0), 10);
  EXPECT_EQ(t.distance(0, 1), 16);
  EXPECT_EQ(t.distance(0, 2), 22);
  EXPECT_EQ(t.distance(0, 3), 16);
  EXPECT_DOUBLE_EQ(t.cpu_distance(0, 4), 2.2);
}

TEST(FromXml, PutsNodesWithoutCpusLast) {
  auto const t = recorded("memory_only.xml");
  ASSERT_EQ(t.domains().size(), 3u);
  EXPECT_EQ(t.cpu_domains(), 2);
  auto const& bare = t.domains()[2];
  EXPECT_EQ(bare.os_node, 2);
  EXPECT_THAT(bare.cpus, IsEmpty());
  EXPECT_EQ(bare.memory_bytes, 8 * gib);
  EXPECT_TRUE(t.has_firmware_distances());
  EXPECT_EQ(t.distance(1, 2), 28);
  EXPECT_EQ(t.nearest_memory(2), 2);
}

TEST(FromXml, GivesCpusToOneOfTwoNodesThatShareThem) {
  auto const t = recorded("hbm.xml");
  ASSERT_EQ(t.domains().size(), 3u);
  EXPECT_EQ(t.cpu_domains(), 2);
  EXPECT_THAT(t.domains()[0].cpus, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(t.domains()[2].os_node, 2);
  EXPECT_THAT(t.domains()[2].cpus, IsEmpty());
  EXPECT_LT(t.distance(0, 2), t.distance(1, 2)) << "it is in package 0";
  EXPECT_GT(t.distance(0, 2), t.distance(0, 0));
}

TEST(FromXml, MakesADomainOfCpusWithoutMemory) {
  auto const t = recorded("memoryless_node.xml");
  ASSERT_EQ(t.domains().size(), 2u);
  EXPECT_EQ(t.cpu_domains(), 2);
  EXPECT_EQ(t.domains()[1].os_node, -1);
  EXPECT_EQ(t.domains()[1].memory_bytes, 0u);
  EXPECT_THAT(t.domains()[1].cpus, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(t.nearest_memory(1), 0);
  EXPECT_EQ(t.domain_of_os_node(-1), -1);
}

TEST(FromXml, CopesWithGapsInNodeNumbers) {
  auto const t = recorded("sparse_nodes.xml");
  ASSERT_EQ(t.domains().size(), 2u);
  EXPECT_EQ(t.domains()[1].os_node, 8);
  EXPECT_EQ(t.domain_of_os_node(8), 1);
  EXPECT_EQ(t.domain_of_os_node(1), -1);
  EXPECT_EQ(t.distance(0, 1), 16);
}

TEST(FromXml, UsesNoMatrixThatLacksANode) {
  auto const t = recorded("partial_distances.xml");
  EXPECT_FALSE(t.has_firmware_distances());
  EXPECT_EQ(t.distance(0, 1), 10 * topology::amplification(level::host));
}

TEST(FromXml, LeavesOutWhatTheRecordedCpusetForbids) {
  auto const t = recorded("restricted.xml");
  EXPECT_THAT(t.cpus(), ElementsAre(5, 6));
  ASSERT_EQ(t.domains().size(), 1u) << "node 0 and its cpus are forbidden";
  EXPECT_EQ(t.domains()[0].os_node, 1);
  EXPECT_EQ(t.domain_of_cpu(4), -1);
  EXPECT_TRUE(allowed(t.root(), topology_object::kind::cpu, 5));
  EXPECT_FALSE(allowed(t.root(), topology_object::kind::cpu, 4));
  EXPECT_FALSE(allowed(t.root(), topology_object::kind::memory, 0));
}

TEST(FromXml, NamesTheFileItCannotRead) {
  auto const absent = topology::from_xml("/nonexistent/machine.xml");
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.message(), HasSubstr("/nonexistent/machine.xml: No such file"));
  auto const twice = topology::from_xml(NIGH_TEST_DATA "/topology/cpu_twice.xml");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.message(), HasSubstr("cpu number 6 is there twice"));
  auto const none = topology::from_xml(NIGH_TEST_DATA "/topology/none_allowed.xml");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.message(), HasSubstr("none of its cpus is allowed"));
  testing::internal::CaptureStderr();
  EXPECT_FALSE(topology::from_xml(NIGH_TEST_DATA "/topology/out_of_order.xml"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");  // hwloc has its say in the child
  auto const malformed = topology::from_xml(NIGH_TEST_DATA "/topology/malformed.xml");
  ASSERT_FALSE(malformed.ok());
  EXPECT_THAT(malformed.message(), HasSubstr("malformed.xml is not a topology"));
  EXPECT_FALSE(topology::from_xml("/").ok());
  EXPECT_FALSE(topology::from_xml("/dev/null").ok());
}

// hwloc 2.9 looks at the complete_cpuset of every cpu, and frees more than it has got at others.
TEST(FromXml, SurvivesWhatCrashesHwloc) {
  std::ifstream in(NIGH_TEST_DATA "/topology/hbm.xml");
  std::string const whole{std::istreambuf_iterator<char>(in), {}};
  auto const file = std::filesystem::path(testing::TempDir()) / "nigh_crashing.xml";
  std::string const name = "complete_cpuset";
  int without = 0;
  for (auto at = whole.find(name); at != whole.npos; at = whole.find(name, at + 1), ++without) {
    auto text = whole;
    text[at] = 'a';
    std::ofstream(file, std::ios::trunc) << text;
    static_cast<void>(topology::from_xml(file));  // or not: it is hwloc's to say
  }
  EXPECT_GT(without, 10);
  EXPECT_TRUE(topology::from_xml(NIGH_TEST_DATA "/topology/hbm.xml").ok());
  std::filesystem::remove(file);
}

TEST(FromXml, IsRefusedWhenItTakesTooMuchMemory) {
  auto const file = std::filesystem::path(testing::TempDir()) / "nigh_large.xml";
  std::string text = R"(<?xml version="1.0"?><topology version="2.0">)";
  while (text.size() < 8'000'000) text += "<a/>";
  std::ofstream(file, std::ios::trunc) << text << "</topology>";
  EXPECT_THAT(topology::from_xml(file).message(), HasSubstr("took too much memory"));
  std::ofstream(file, std::ios::trunc) << std::string(17'000'000, ' ');
  EXPECT_THAT(topology::from_xml(file).message(), HasSubstr("it is larger than 16777216 bytes"));
  std::filesystem::remove(file);
  EXPECT_THAT(topology::from_xml("/dev/zero").message(), HasSubstr("larger"));
}

TEST(FromXml, SurvivesEveryTruncation) {
  std::ifstream in(NIGH_TEST_DATA "/topology/memory_only.xml");
  std::string const whole{std::istreambuf_iterator<char>(in), {}};
  auto const file = std::filesystem::path(testing::TempDir()) / "nigh_truncated.xml";
  if (&__lsan_disable != nullptr) __lsan_disable();  // hwloc 2.9 forgets an object it was reading
  for (std::size_t size = 0; size + 20 < whole.size(); size += 97) {
    std::ofstream(file, std::ios::trunc) << whole.substr(0, size);
    EXPECT_FALSE(topology::from_xml(file).ok()) << size;
  }
  if (&__lsan_enable != nullptr) __lsan_enable();
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace nigh
