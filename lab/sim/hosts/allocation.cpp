// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/allocation.hpp"

namespace nigh::sim {

std::vector<RequestCell> study_requests(policy::CoreMap const& map, RequestOptions const& o) {
  std::vector<RequestCell> cells{{"random", {}}};
  for (auto const name : policy::core_allocation_names) cells.push_back({std::string(name), {}});
  for (int s = 0; s < o.seeds; ++s) {
    auto const seed = o.seed + static_cast<std::uint64_t>(s);
    for (RequestCell& cell : cells) {
      Random random(seed);
      auto const how = policy::core_allocation_from_string(cell.policy);
      cell.sums.push_back(
          play_requests(map, o.programs, o.requests, seed,
                        [&](policy::PositionSet const& free, policy::CoreRequest const& request) {
                          return how ? policy::decide(map, {.how = *how}, free, request)
                                     : scattered(map, free, request, random);
                        }));
    }
  }
  return cells;
}

result<std::vector<WayCell>> study_set(Machine const& machine, policy::CoreMap const& map,
                                       MeasuredPrograms const& measured, SetOptions const& o) {
  std::vector<WayCell> cells;
  for (Way way : o.ways) cells.push_back({way, {}});
  for (int s = 0; s < o.seeds; ++s) {
    auto const seed = o.seed + static_cast<std::uint64_t>(s);
    auto const set = random_programs(o.programs, seed);
    for (WayCell& cell : cells) {
      auto const outcome =
          run_programs(machine, map, measured, {set, o.at_once, cell.way, seed, o.data});
      if (!outcome) return outcome.to_error();
      cell.outcomes.push_back(*outcome);
    }
  }
  return cells;
}

}  // namespace nigh::sim
