// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreAllocation: which cpus go to a parallel region that asks, and how many?
//
// Reads which cpus are free and returns a decision; its caller applies it. Time grows with the
// words of a cpu set and with the core sets looked at: about a microsecond for a thousand cpus.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/choice_names.hpp"
#include "policy/cpus/core_cluster.hpp"
#include "policy/cpus/core_map.hpp"
#include "policy/cpus/position_set.hpp"
#include "policy/cpus/team_order.hpp"
#include "policy/cpus/thread_count.hpp"

namespace nigh::policy {

enum class CoreAllocation : std::uint8_t {
  simple,               // the first that are free
  nearest,              // nearest to the requester
  clustered,            // core set by core set, leaving the others whole
  clustered_adjusting,  // the same; a few more or fewer, if that closes a gap
};

inline constexpr std::array<std::string_view, 4> core_allocation_names{
    "simple", "nearest", "clustered", "clustered-adjusting"};

constexpr std::string_view to_string(CoreAllocation a) noexcept {
  return core_allocation_names[static_cast<std::size_t>(a)];
}
constexpr std::optional<CoreAllocation> core_allocation_from_string(
    std::string_view name) noexcept {
  return choice_named<CoreAllocation>(core_allocation_names, name);
}
static_assert(core_allocation_from_string(to_string(CoreAllocation::clustered_adjusting)) ==
              CoreAllocation::clustered_adjusting);

struct CoreAllocationOptions {
  CoreAllocation how = CoreAllocation::clustered_adjusting;
  Scarcity scarcity{};
  int adjust_percent = 10;  // of N, by which adjusting may change it; one cpu at least
};

// The request of a program's region.
struct CoreRequest {
  ThreadDemand demand;
  int place = -1;      // position its leader runs at, -1: unknown
  int attainable = 0;  // cpus it can hope for; 0: all of the machine
};

struct CoreDecision {
  int wanted = 0;              // N
  std::vector<int> positions;  // of the threads, leader first; empty: wait

  bool waits() const noexcept { return positions.empty(); }
  bool operator==(CoreDecision const&) const = default;
};

// How far adjusting may go: never beyond what the region can use or what is free, and, when others
// wait, never to their disadvantage.
constexpr ClusterSize cluster_size(int granted, int fewest, ThreadDemand d, ThreadSupply s,
                                   int adjust_percent) noexcept {
  int const slack = std::max(1, granted * adjust_percent / 100);
  int const high = s.waiting > 0 ? granted : std::min({granted + slack, d.maximum, s.free});
  return {granted, std::min(granted, std::max(fewest, granted - slack)), std::max(granted, high)};
}
static_assert(cluster_size(8, 1, {16, 8}, {32, 32}, 25).low == 6);
static_assert(cluster_size(8, 1, {9, 8}, {32, 32}, 25).high == 9);
static_assert(cluster_size(8, 8, {16, 8}, {32, 32, 1}, 25).high == 8);
static_assert(cluster_size(1, 1, {1, 1}, {32, 32}, 25).low == 1);

// `free`: cpus this program may be given now. `waiting`: other requests that want them.
inline CoreDecision decide(CoreMap const& map, CoreAllocationOptions const& options,
                           PositionSet const& free, CoreRequest const& request, int waiting = 0) {
  ThreadDemand const& demand = request.demand;
  NIGH_ASSERT(1 <= demand.optimal && demand.optimal <= demand.maximum, "a demand is in order");
  NIGH_ASSERT(free.size() == map.size() && request.place < map.size(), "sets of this machine");
  ThreadSupply const supply{free.count(), map.size(), waiting};
  int const fewest = fewest_threads(
      demand, request.attainable > 0 ? request.attainable : map.size(), options.scarcity);
  auto const [wanted, granted] = thread_count(demand, supply, fewest);
  if (granted == 0) return {wanted, {}};

  CoreCluster cluster(map, free, request.place);
  switch (options.how) {
    case CoreAllocation::simple:
      cluster.choose_first(granted);
      break;
    case CoreAllocation::nearest:
      cluster.choose_nearest(granted);
      break;
    case CoreAllocation::clustered:
      cluster.choose_clustered({granted, granted, granted});
      break;
    case CoreAllocation::clustered_adjusting:
      cluster.choose_clustered(
          cluster_size(granted, fewest, demand, supply, options.adjust_percent));
      break;
  }
  return {wanted, team_order(map, cluster.chosen(), request.place)};
}

}  // namespace nigh::policy
