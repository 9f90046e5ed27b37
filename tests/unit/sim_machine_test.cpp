// SPDX-License-Identifier: Apache-2.0
// Machine files: those that come with nigh, and what is said of wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "machines.hpp"
#include "sim/json_lines.hpp"
#include "sim/machine.hpp"

namespace nigh::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string const good = R"({
  "format": 1,
  "title": "two sockets",
  "topology": {"synthetic": "pack:2 numa:1 core:2 pu:1", "source": "a test"},
  "links": {
    "between": [[0, 1]],
    "source": "a test",
    "gb_per_s": {"value": 4, "source": "a test"},
    "distance": {"value": 10, "source": "a test"}
  },
  "memory": {
    "thread_gb_per_s": {"value": 4, "source": "a test"},
    "per_hop": {"value": 1.5, "source": "a test"},
    "controller_gb_per_s": {"value": 6, "source": "a test"},
    "crowding": {"value": 0, "source": "a test"},
    "uncrowded_flows": {"value": 0, "source": "a test"},
    "read_share": {"value": 1, "source": "a test"}
  },
  "costs": {
    "message_ns": {"value": 0, "source": "a test"},
    "barrier_ns": {"value": 100, "source": "a test"},
    "slice_ns": {"value": 0, "source": "a test"}
  }
}
)";

// The complaint about `text` when it has `instead` for the first `what` from `from` on.
std::string complaint_of(std::string text, std::size_t from, std::string const& what,
                         std::string const& instead) {
  auto const at = text.find(what, from);
  EXPECT_NE(at, text.npos) << what;
  text.replace(at, what.size(), instead);
  auto const machine = parse_machine("m.json", text);
  EXPECT_FALSE(machine.ok()) << what << " -> " << instead;
  return machine ? "" : machine.message();
}

std::string complaint(std::string const& what, std::string const& instead) {
  return complaint_of(good, 0, what, instead);
}

TEST(MachineFile, IsReadWithItsSources) {
  auto const machine = parse_machine("folder/m.json", good);
  ASSERT_TRUE(machine.ok()) << machine.message();
  EXPECT_EQ(machine->name, "m");
  EXPECT_EQ(machine->links.hops(0, 1), 1);
  EXPECT_EQ(machine->controller_gb_per_s.value, 6);
  EXPECT_EQ(machine->per_hop.source, "a test");
  auto const map = machine->core_map();
  EXPECT_EQ(map.distance(0, 1), 1);
  EXPECT_EQ(map.distance(0, 2), 10);
}

TEST(MachineFile, MayBeACluster) {
  auto text = good;
  auto const network = [&](std::string const& hosts) {
    text = good;
    text.replace(text.rfind("\n}"), 2,
                 ",\n  \"network\": {\"hosts\": {\"value\": " + hosts +
                     ", \"source\": \"a test\"},\n    \"gb_per_s\": {\"value\": 3, \"source\": "
                     "\"a test\"}, \"message_ns\": {\"value\": 9, \"source\": \"a test\"}}\n}");
    return parse_machine("m.json", text);
  };
  auto const cluster = network("4");
  ASSERT_TRUE(cluster.ok()) << cluster.message();
  EXPECT_EQ(cluster->hosts.value, 4);
  EXPECT_EQ(cluster->network_gb_per_s.value, 3);
  EXPECT_EQ(cluster->network_message_ns.value, 9);
  EXPECT_EQ(parse_machine("m.json", good)->hosts.value, 1);
  for (char const* wrong : {"1", "2.5", "0", "-4"}) {
    EXPECT_FALSE(network(wrong).ok()) << wrong;
    EXPECT_THAT(network(wrong).message(), HasSubstr("network/hosts/value"));
  }
}

TEST(MachineFile, ThoseOfNighAreInOrder) {
  auto const names = machine_names(NIGH_MACHINES);
  EXPECT_GE(names.size(), 3u);
  for (auto const& name : names) {
    auto const machine = find_machine(name, NIGH_MACHINES);
    ASSERT_TRUE(machine.ok()) << machine.message();
    for (auto const& [what, number] : machine->numbers())
      EXPECT_NE(number.source, "") << name << ' ' << what;
    EXPECT_EQ(machine->core_map().size(), static_cast<int>(machine->shape.cpus().size()));
  }
}

TEST(MachineFile, SunX4600HasSocketsUpToThreeHopsApart) {
  auto const machine = tests::machine("sun-x4600");
  EXPECT_EQ(machine.links.diameter(), 3);
  EXPECT_EQ(machine.links.hops(0, 7), 3);
  int far = 0;
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b) far += machine.links.hops(a, b) == 3;
  EXPECT_EQ(far, 2) << "only 0 and 7";
}

TEST(MachineFile, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(complaint("\"crowding\"", "\"crowd\""), "m.json:15: memory/crowd: unknown key");
  EXPECT_EQ(complaint("{\"value\": 6, \"source\": \"a test\"}", "{\"value\": 6}"),
            "m.json:14: memory/controller_gb_per_s/source: is missing");
  EXPECT_EQ(complaint("\"value\": 6", "\"value\": 0"),
            "m.json:14: memory/controller_gb_per_s/value: is 0, which is not above 0");
  EXPECT_EQ(complaint("\"value\": 6", "\"value\": \"6\""),
            "m.json:14: memory/controller_gb_per_s/value: is no number");
  EXPECT_EQ(complaint("\"read_share\": {\"value\": 1", "\"read_share\": {\"value\": 1.5"),
            "m.json:17: memory/read_share/value: is 1.5, which is not 0 or more and at most 1.0");
  EXPECT_EQ(
      complaint("\"value\": 6", "\"value\": 1e9"),
      "m.json:14: memory/controller_gb_per_s/value: is 1000000000.0, which is not above 0 and "
      "at most 1000000.0");
  EXPECT_EQ(complaint("\"value\": 6", "\"value\": 1e-9"),
            "m.json:14: memory/controller_gb_per_s/value: is less than 0.001");
  EXPECT_EQ(
      complaint("\"uncrowded_flows\": {\"value\": 0", "\"uncrowded_flows\": {\"value\": 1e10"),
      "m.json:16: memory/uncrowded_flows/value: is 10000000000.0, which is not 0 or more and "
      "at most 1000000.0");
  EXPECT_EQ(complaint("\"format\": 1", "\"format\": 2"),
            "m.json:2: format: is 2, this nigh reads 1");
  EXPECT_EQ(complaint("[[0, 1]]", "[[0, 2]]"),
            "m.json:6: links/between/0: [0,2] does not link two of the 2 domains");
  EXPECT_EQ(complaint("[[0, 1]]", "[[0, 1],\n [1, 0]]"),
            "m.json:7: links/between/1: [1,0] is there twice");
  EXPECT_EQ(complaint("[[0, 1]]", "[0, 1]"),
            "m.json:6: links/between/0: 0 is no pair of domains such as [0, 1]");
  EXPECT_EQ(complaint("\"title\": \"two sockets\",", "\"title\": \"two sockets\""),
            "m.json:4: this is no JSON");
  EXPECT_EQ(complaint("\"title\"", "\"format\": 1, \"title\""),
            "m.json:3: \"format\" is here for the second time");
}

TEST(MachineFile, IsRefusedWhenItIsNestedDeeply) {
  auto const refused = parse_machine("m.json", "{\"format\":\n" + std::string(100'000, '['));
  EXPECT_EQ(refused.message(), "m.json:2: this is nested deeper than 32 levels");
}

TEST(MachineFile, IsRefusedBeforeItsManyCpusAreBuilt) {
  EXPECT_THAT(complaint("pack:2 numa:1 core:2 pu:1", "pack:16384 pu:1"),
              HasSubstr("topology/synthetic: has more than 4096 cpus"));
}

TEST(MachineFile, IsRefusedBeforeTheRoutesOfItsManyDomainsAreFound) {
  EXPECT_THAT(complaint("pack:2 numa:1 core:2 pu:1", "pack:257 numa:1 pu:1"),
              HasSubstr("topology/synthetic: has more than 256 domains"));
}

// Where each value stands is kept by a name that is as long as all keys around it.
TEST(MachineFile, IsRefusedWhenItsNamesWouldTakeMuchMemory) {
  std::string text = "{\"" + std::string(100'000, 'k') + "\":[0";
  for (int i = 0; i < 100'000; ++i) text += ",0";
  EXPECT_EQ(parse_machine("m.json", text + "]}").message(),
            "m.json:1: this has more values than a file of its size should have");
  EXPECT_EQ(parse_machine("m.json", std::string(2'000'000, ' ')).message(),
            "m.json:1: this is larger than 1048576 bytes");
}

// A memory without cpus, linked to domain 0.
std::string with_memory_apart() {
  auto text = good;
  auto const replace = [&](std::string const& what, std::string const& with) {
    text.replace(text.find(what), what.size(), with);
  };
  replace("pack:2 numa:1", "[numa] pack:2 [numa]");
  replace("[[0, 1]]", "[[0, 1], [0, 2]]");
  replace("\"read_share\"",
          "\"apart\": {\"gb_per_s\": {\"value\": 2, \"source\": \"t\"}, "
          "\"hops\": {\"value\": 1.5, \"source\": \"t\"}}, \"read_share\"");
  return text;
}

TEST(MachineFile, MayHaveMemoryWithoutCpus) {
  auto const machine = parse_machine("m.json", with_memory_apart());
  ASSERT_TRUE(machine.ok()) << machine.message();
  EXPECT_EQ(machine->shape.cpu_domains(), 2);
  EXPECT_EQ(machine->links.domains(), 3);
  EXPECT_TRUE(machine->has_cpus(1));
  EXPECT_FALSE(machine->has_cpus(2));
  EXPECT_EQ(machine->way(0, 1), 1);
  EXPECT_EQ(machine->way(0, 2), 2.5);
  EXPECT_EQ(machine->way(1, 2), 3.5);
  EXPECT_EQ(machine->slowdown(0, 2), 1 + 1.5 * 2.5);
  EXPECT_EQ(machine->core_map().domains(), 2);
}

TEST(MachineFile, TellsOfMemoryWithoutCpusThatIsNotDescribedOrNotThere) {
  auto text = with_memory_apart();
  text.replace(text.find("\"apart\""), 7, "\"alone\"");
  EXPECT_EQ(parse_machine("m.json", text).message(), "m.json:17: memory/alone: unknown key");
  text = with_memory_apart();
  auto const from = text.find("\"apart\""), to = text.find("\"read_share\"");
  EXPECT_EQ(parse_machine("m.json", text.replace(from, to - from, "")).message(),
            "m.json:11: memory/apart/gb_per_s: is missing");
  text = with_memory_apart();
  text.replace(text.find(", [0, 2]"), 8, "");
  EXPECT_EQ(parse_machine("m.json", text).message(),
            "m.json:6: links/between: no way from domain 0 to domain 2: a link is missing");
  EXPECT_EQ(complaint("\"read_share\"", "\"apart\": {}, \"read_share\""),
            "m.json:17: memory/apart: each domain of this machine has cpus");
}

TEST(MachineFile, DomainsThatNothingLinksAreNamed) {
  auto text = good;
  text.replace(text.find("pack:2"), 6, "pack:3");
  auto const machine = parse_machine("m.json", text);
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.message(),
            "m.json:6: links/between: no way from domain 0 to domain 2: a link is missing");
}

TEST(MachineFile, TopologiesAreReadAsNighTopoDoes) {
  EXPECT_THAT(complaint("pack:2 numa:1 core:2 pu:1", "pack:2 numa:1 core:zwei"),
              StartsWith("m.json:4: topology/synthetic: "));
  EXPECT_THAT(complaint("\"synthetic\": \"pack:2 numa:1 core:2 pu:1\"", "\"xml\": \"nowhere.xml\""),
              HasSubstr("nowhere.xml"));
  EXPECT_EQ(complaint("\"synthetic\": \"pack:2 numa:1 core:2 pu:1\", ", ""),
            "m.json:4: topology: needs either \"synthetic\" or \"xml\"");
}

TEST(MachineFile, NothingBreaksTheReader) {
  for (std::size_t end = 0; end < good.size() - 3; ++end)
    EXPECT_FALSE(parse_machine("m.json", good.substr(0, end)).ok()) << end;
  for (char const* text : {"", "[]", "1", "null", "\"x\"", "{}", "{\"a\": [[[", "\xff\xfe"})
    EXPECT_FALSE(parse_machine("m.json", text).ok()) << text;
}

TEST(MachineFile, UnknownNamesComeWithTheKnownOnes) {
  auto const machine = find_machine("sun", NIGH_MACHINES);
  ASSERT_FALSE(machine.ok());
  EXPECT_THAT(machine.message(), HasSubstr("sun-x4600"));
  EXPECT_THAT(find_machine("nowhere/m.json", NIGH_MACHINES).message(),
              HasSubstr("nowhere/m.json: No such file"));
  EXPECT_THAT(find_machine("/", NIGH_MACHINES).message(), HasSubstr("is a directory"));
}

// A level's costs, with which it ends.
std::string const costs = R"(
      "probe_ns": {"value": 1, "source": "a test"},
      "lock_ns": {"value": 2, "source": "a test"},
      "copy_ns": {"value": 3, "source": "a test"},
      "unlock_ns": {"value": 4, "source": "a test"},
      "gb_per_s": {"value": 5, "source": "a test"})";

std::string const cluster = good.substr(0, good.rfind("\n}")) + R"(,
  "network": {
    "hosts": {"value": 3, "source": "a test"},
    "gb_per_s": {"value": 4, "source": "a test"},
    "message_ns": {"value": 5, "source": "a test"}
  },
  "levels": {
    "package": {"within": "host", "cpus": 2,)" +
                            costs + R"(},
    "host": {"within": "cluster", "cpus": 4,)" +
                            costs + R"(},
    "cluster": {"cpus": 12,)" +
                            costs + R"(,
      "interface_ns": {"value": 6, "source": "a test"}}
  }
}
)";

TEST(MachineFile, MaySayWhatMakingATaskTakes) {
  EXPECT_FALSE(parse_machine("m.json", good)->spawn_ns.has_value());
  auto text = good;
  text.insert(text.find("    \"slice_ns\""),
              "    \"spawn_ns\": {\"value\": 3, \"source\": \"x\"},\n");
  auto const machine = parse_machine("m.json", text);
  ASSERT_TRUE(machine.ok()) << machine.message();
  ASSERT_TRUE(machine->spawn_ns.has_value());
  EXPECT_EQ(machine->spawn_ns->value, 3);
  EXPECT_EQ(machine->numbers().back().first, "costs/spawn_ns");
  EXPECT_THAT(complaint("\"slice_ns\": {\"value\": 0, \"source\": \"a test\"}",
                        "\"slice_ns\": {\"value\": 0, \"source\": \"a test\"},\n"
                        "    \"spawn_ns\": {\"value\": -1, \"source\": \"a test\"}"),
              StartsWith("m.json:23: costs/spawn_ns/value: is -1"));
}

TEST(MachineLevels, AreReadInsideOut) {
  auto const machine = parse_machine("m.json", cluster);
  ASSERT_TRUE(machine.ok()) << machine.message();
  EXPECT_EQ(machine->hosts.value, 3);
  ASSERT_EQ(machine->levels.size(), 3u);
  EXPECT_EQ(machine->levels[0].name, "package");
  EXPECT_EQ(machine->levels[1].level, level::host);
  EXPECT_EQ(machine->levels[2].cpus, 12);
  EXPECT_EQ(machine->levels[2].gb_per_s.value, 5);
  EXPECT_EQ(machine->interface_ns.value, 6);
  EXPECT_EQ(parse_machine("m.json", good)->levels.size(), 0u);
}

TEST(MachineLevels, SayWhatIsWrongAndWhere) {
  struct Mistake {
    char const *what, *instead, *said;
  };
  constexpr Mistake mistakes[] = {
      {"\"within\": \"cluster\"", "\"within\": \"package\"",
       "36: levels/host/within: these levels lie within each other, a cycle"},
      {"\"within\": \"host\"", "\"within\": \"cluster\"",
       "30: levels/package/within: host lies within cluster, too"},
      {"\"within\": \"host\"", "\"within\": \"rack\"",
       "30: levels/package/within: there is no level \"rack\""},
      {"\"within\": \"host\", ", "", "30: levels/package: lies within no level, nor does cluster"},
      {"\"gb_per_s\": {\"value\": 5", "\"gb_per_s\": {\"value\": 0",
       "35: levels/package/gb_per_s/value: is 0, which is not above 0"},
      {"\"probe_ns\": {\"value\": 1", "\"probe_ns\": {\"value\": -1",
       "31: levels/package/probe_ns/value: is -1, which is not 0 or more"},
      {"\"lock_ns\"", "\"luck_ns\"", "32: levels/package/luck_ns: unknown key"},
      {"\"cpus\": 12", "\"cpus\": 16", "42: levels/cluster/cpus: is 16; all of the machine has 12"},
      {"\"cpus\": 2", "\"cpus\": 3",
       "36: levels/host/cpus: is 4, no multiple of the level's inside, 3"},
      {"\"cpus\": 4", "\"cpus\": 6", "36: levels/host/cpus: a host has 4 cpus"},
      {"\"cpus\": 2", "\"cpus\": \"two\"",
       "30: levels/package/cpus: is \"two\", which is no whole number from 1 on"},
      {",\n      \"interface_ns\": {\"value\": 6, \"source\": \"a test\"}", "",
       "42: levels/cluster/interface_ns: is missing"},
      {"\"levels\"", "\"ladders\"", "29: ladders: unknown key"}};
  auto const behind_the_host = good.size() - 3;
  for (auto const& m : mistakes)
    EXPECT_EQ(complaint_of(cluster, behind_the_host, m.what, m.instead),
              std::string("m.json:") + m.said);
}

}  // namespace
}  // namespace nigh::sim
