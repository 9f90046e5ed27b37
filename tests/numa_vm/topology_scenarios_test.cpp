// SPDX-License-Identifier: Apache-2.0
// The answers of topology::live() on machines whose every property is known: each suite runs on the
// emulated machine that CMakeLists.txt boots for it.

#include <gmock/gmock.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <thread>
#include <vector>

namespace {

using nigh::cpu_order;
using nigh::level;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t mib = 1 << 20;
// Of a node of 384 MiB, the firmware and the kernel's image take their share.
constexpr std::uint64_t least = 256 * mib, most = 384 * mib;

nigh::topology live() {
  auto read = nigh::topology::live();
  EXPECT_TRUE(read.ok());
  return std::move(read).value();
}

std::vector<double> distances_from(nigh::topology const& t, int from) {
  std::vector<double> row;
  for (std::size_t to = 0; to < t.domains().size(); ++to)
    row.push_back(t.distance(from, static_cast<int>(to)));
  return row;
}

std::size_t count(nigh::topology_object const& o, nigh::topology_object::kind type) {
  std::size_t n = o.type == type ? 1 : 0;
  for (auto const& child : o.children) n += count(child, type);
  return n;
}

// --nodes 4 --cores 2 --distances ring
TEST(four_nodes, are_four_domains_of_two_cpus) {
  auto const t = live();
  EXPECT_TRUE(t.is_this_host());
  EXPECT_THAT(t.cpus(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(t.cores(), 8);
  ASSERT_EQ(t.domains().size(), 4U);
  EXPECT_EQ(t.cpu_domains(), 4);
  for (int d = 0; d < 4; ++d) {
    auto const& domain = t.domains()[static_cast<std::size_t>(d)];
    EXPECT_EQ(domain.index, d);
    EXPECT_EQ(domain.os_node, d);
    EXPECT_THAT(domain.cpus, ElementsAre(2 * d, 2 * d + 1));
    EXPECT_GE(domain.memory_bytes, least);
    EXPECT_LE(domain.memory_bytes, most);
    EXPECT_EQ(t.nearest_memory(d), d);
    EXPECT_EQ(t.domain_of_os_node(d), d);
    EXPECT_EQ(t.domain_of_cpu(2 * d + 1), d);
  }
  EXPECT_EQ(t.domain_of_cpu(8), -1);
  EXPECT_EQ(count(t.root(), nigh::topology_object::kind::package), 4U);
}

TEST(four_nodes, have_the_firmware_s_distances) {
  auto const t = live();
  EXPECT_TRUE(t.has_firmware_distances());
  EXPECT_THAT(distances_from(t, 0), ElementsAre(10, 16, 21, 16));
  EXPECT_THAT(distances_from(t, 1), ElementsAre(16, 10, 16, 21));
  EXPECT_THAT(distances_from(t, 3), ElementsAre(16, 21, 16, 10));
  EXPECT_EQ(t.cpu_distance(0, 0), 0);
  EXPECT_LT(t.cpu_distance(0, 1), t.cpu_distance(0, 2));
  EXPECT_LT(t.cpu_distance(0, 2), t.cpu_distance(0, 4));
  EXPECT_EQ(t.cpu_distance(0, 2), t.cpu_distance(0, 7));
}

TEST(four_nodes, are_filled_or_dealt_out) {
  auto const t = live();
  EXPECT_THAT(t.order(cpu_order::compact, level::domain), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(t.order(cpu_order::scatter, level::domain), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(four_nodes, shrink_to_the_calling_thread_s_affinity) {
  std::thread([] {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::size_t const cpu : {3U, 6U, 7U}) CPU_SET(cpu, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    auto const t = live();
    EXPECT_THAT(t.cpus(), ElementsAre(3, 6, 7));
    ASSERT_EQ(t.cpu_domains(), 2);
    EXPECT_EQ(t.domains()[0].os_node, 1);
    EXPECT_THAT(t.domains()[0].cpus, ElementsAre(3));
    EXPECT_EQ(t.domains()[1].os_node, 3);
    EXPECT_THAT(t.domains()[1].cpus, ElementsAre(6, 7));
    // Affinity restricts cpus; the memory of the other nodes may still be used, from afar.
    ASSERT_EQ(t.domains().size(), 4U);
    EXPECT_THAT(t.domains()[2].cpus, IsEmpty());
    EXPECT_EQ(t.domain_of_os_node(0), 2);
    EXPECT_EQ(t.distance(0, 1), 21);  // nodes 1 and 3
  }).join();
}

// --nodes 4 --cores 2 --threads 2 --nodes-per-socket 2 --distances pairs
TEST(sub_numa_with_smt, has_two_packages_of_two_domains) {
  auto const t = live();
  EXPECT_EQ(count(t.root(), nigh::topology_object::kind::package), 2U);
  EXPECT_EQ(t.cpus().size(), 16U);
  EXPECT_EQ(t.cores(), 8);
  ASSERT_EQ(t.cpu_domains(), 4);
  EXPECT_THAT(t.domains()[2].cpus, ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(distances_from(t, 2), ElementsAre(32, 32, 10, 12));
}

TEST(sub_numa_with_smt, knows_siblings_and_levels) {
  auto const t = live();
  EXPECT_THAT(t.smt_siblings(0), ElementsAre(0, 1));
  EXPECT_THAT(t.smt_siblings(15), ElementsAre(14, 15));
  EXPECT_EQ(t.common_level(0, 0), level::cpu);
  EXPECT_EQ(t.common_level(0, 1), level::core);
  EXPECT_LE(t.common_level(0, 2), level::domain);
  EXPECT_EQ(t.common_level(0, 4), level::l3);  // a package has one for its two domains
  EXPECT_EQ(t.common_level(0, 8), level::host);
}

TEST(sub_numa_with_smt, leaves_siblings_for_last) {
  auto const order = live().order(cpu_order::compact, level::package);
  ASSERT_EQ(order.size(), 16U);
  EXPECT_THAT(std::vector<int>(order.begin(), order.begin() + 8),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

// --nodes 3 --cores 2 --memory 384M,0,384M --distances 10,20,20/20,10,12/20,12,10
TEST(memoryless_node, takes_the_closest_memory) {
  auto const t = live();
  EXPECT_THAT(t.cpus(), ElementsAre(0, 1, 2, 3, 4, 5));
  int const domain = t.domain_of_cpu(3);
  ASSERT_GE(domain, 0);
  int const memory = t.nearest_memory(domain);
  ASSERT_GE(memory, 0);
  EXPECT_GE(t.domains()[static_cast<std::size_t>(memory)].memory_bytes, least);
  EXPECT_EQ(t.nearest_memory(t.domain_of_cpu(0)), t.domain_of_os_node(0));
  EXPECT_EQ(t.nearest_memory(t.domain_of_cpu(5)), t.domain_of_os_node(2));
  EXPECT_NE(t.domain_of_os_node(0), t.domain_of_os_node(2));
}

// --nodes 2 --cores 2 --memory-only 1 --hmat
TEST(memory_only_node, comes_after_those_with_cpus) {
  auto const t = live();
  ASSERT_EQ(t.domains().size(), 3U);
  EXPECT_EQ(t.cpu_domains(), 2);
  EXPECT_THAT(t.domains()[2].cpus, IsEmpty());
  EXPECT_EQ(t.domains()[2].os_node, 2);
  EXPECT_GE(t.domains()[2].memory_bytes, least);
  EXPECT_EQ(t.nearest_memory(2), 2);
  EXPECT_EQ(t.distance(0, 2), 20);
  EXPECT_EQ(t.order(cpu_order::scatter, level::domain).size(), 4U);
}

// --nodes 3 --cores 2, cpus 1, 2 and 3 offline
TEST(offline_cpus, leave_a_node_with_memory_only) {
  auto const t = live();
  EXPECT_THAT(t.cpus(), ElementsAre(0, 4, 5));
  ASSERT_EQ(t.domains().size(), 3U);
  ASSERT_EQ(t.cpu_domains(), 2);
  EXPECT_THAT(t.domains()[0].cpus, ElementsAre(0));
  EXPECT_EQ(t.domains()[0].os_node, 0);
  EXPECT_THAT(t.domains()[1].cpus, ElementsAre(4, 5));
  EXPECT_EQ(t.domains()[1].os_node, 2);
  EXPECT_EQ(t.domains()[2].os_node, 1);
}

// --nodes 3 --cores 2 --memory 384M,0,384M --distances line, cpus 2 and 3 offline: node 1 is empty
TEST(offline_node, leaves_sparse_numbers) {
  auto const t = live();
  EXPECT_THAT(t.cpus(), ElementsAre(0, 1, 4, 5));
  ASSERT_EQ(t.cpu_domains(), 2);
  EXPECT_EQ(t.domains()[0].os_node, 0);
  EXPECT_EQ(t.domains()[1].os_node, 2);
  EXPECT_EQ(t.domain_of_os_node(2), 1);
  EXPECT_EQ(t.domain_of_cpu(4), 1);
  EXPECT_EQ(t.distance(0, 1), 30);
}

// --nodes 4 --cores 2 --cpuset 2-3,5 --mems 1-2
TEST(cpuset, is_all_there_is) {
  auto const t = live();
  EXPECT_THAT(t.cpus(), ElementsAre(2, 3, 5));
  ASSERT_EQ(t.cpu_domains(), 2);
  EXPECT_EQ(t.domains()[0].os_node, 1);
  EXPECT_THAT(t.domains()[0].cpus, ElementsAre(2, 3));
  EXPECT_EQ(t.domains()[1].os_node, 2);
  EXPECT_THAT(t.domains()[1].cpus, ElementsAre(5));
  EXPECT_EQ(t.domains().size(), 2U) << "the memory of nodes 0 and 3 is forbidden";
  EXPECT_EQ(t.domain_of_cpu(0), -1);
}

}  // namespace
