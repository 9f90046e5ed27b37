// SPDX-License-Identifier: Apache-2.0
// The victims of thieves on a real machine of several domains, in counts by level.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nigh/topology.hpp>
#include <string>
#include <utility>
#include <vector>

#include "steal_sequence.hpp"

namespace {

TEST(steals, go_to_the_nearest_victims_first) {
  auto const& machine = nigh::this_host();
  nigh::runtime_options options;
  options.machine = &machine;
  for (int thief = 0; thief < static_cast<int>(machine.cpus().size()); ++thief)
    nigh_test::expect_near_first(nigh_test::steal_one_from_each(options, thief));
}

// Domains that are equally many levels away are told apart by the firmware's distances.
TEST(steals, tell_domains_apart_by_distance) {
  auto const& machine = nigh::this_host();
  nigh::runtime_options options;
  options.machine = &machine;
  auto const spree = nigh_test::steal_one_from_each(options, 0);
  std::vector<double> distances;
  for (auto const& theft : spree.thefts)
    if (distances.empty() || distances.back() != theft.distance)
      distances.push_back(theft.distance);
  for (std::size_t i = 1; i < distances.size(); ++i) EXPECT_LT(distances[i - 1], distances[i]);
  EXPECT_EQ(distances.back(), [&] {
    double farthest = 0;
    for (int cpu : machine.cpus())
      farthest = std::max(farthest, machine.cpu_distance(machine.cpus()[0], cpu));
    return farthest;
  }());
}

int fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = nigh::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

std::vector<std::uint64_t> steals_of_fib(nigh::victim_choice victims) {
  nigh::runtime_options options;
  options.victims = victims;
  nigh::runtime runtime(options);
  runtime.run([] { EXPECT_EQ(fib(24), 46368); });
  std::vector<std::uint64_t> at;
  std::uint64_t all = 0, stolen = 0;
  for (auto const& c : runtime.counters()) {
    at.resize(c.steals_at.size());
    for (std::size_t l = 0; l < at.size(); ++l) at[l] += c.steals_at[l];
    all += c.steals;
    stolen += c.stolen;
  }
  std::uint64_t sum = 0;
  for (auto n : at) sum += n;
  EXPECT_EQ(sum, all);
  EXPECT_GE(stolen, all);
  return at;
}

// How a whole recursion is spread depends on who is awake when: told, not asserted.
TEST(steals, of_a_recursion_are_counted_by_level) {
  for (auto const& [name, victims] : {std::pair{"hierarchical", nigh::victim_choice::hierarchical},
                                      std::pair{"random", nigh::victim_choice::random}}) {
    std::string line;
    auto const at = steals_of_fib(victims);
    for (std::size_t l = 0; l < at.size(); ++l)
      if (at[l] > 0)
        line +=
            " " + std::string(to_string(static_cast<nigh::level>(l))) + " " + std::to_string(at[l]);
    std::printf("steals of fib(24), %s:%s\n", name, line.c_str());
  }
}

}  // namespace
