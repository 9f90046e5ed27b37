// SPDX-License-Identifier: Apache-2.0
#pragma once
// Teams of nigh's workers on groups of planes: so many workers, or as many as each operator finds
// best on each level.

#include <nigh/runtime.hpp>
#include <typeindex>
#include <utility>

#include "nigh_options.hpp"
#include "npb_mg/plain_cycle.hpp"
#include "spreads.hpp"

namespace npb_mg {

class TeamLoops {
 public:
  TeamLoops(Team const& team, nigh::spread spread, int active)
      : runtime_(workloads::nigh_options(team)),
        most_groups_(groups_a_worker * team.threads()),
        spreads_(spread, active) {}

  template <class Body>
  void run(Body const& body) {
    runtime_.run(body);
  }

  // A loop's body is its type.
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    std::ptrdiff_t const planes = last - first;
    std::ptrdiff_t const groups = std::min(planes, most_groups_);
    nigh::task_loop(
        static_cast<std::size_t>(groups),
        [&](std::size_t number, nigh::team const& team) {
          auto const g = static_cast<std::ptrdiff_t>(number);
          team.parallel_for(first + planes * g / groups, first + planes * (g + 1) / groups, body);
        },
        spreads_.of({typeid(Body), planes}));
  }

  using Spreads = workloads::Spreads<std::pair<std::type_index, std::ptrdiff_t>>;
  Spreads const& spreads() const noexcept { return spreads_; }

 private:
  static constexpr int groups_a_worker = 4;

  nigh::runtime runtime_;
  std::ptrdiff_t most_groups_;
  Spreads spreads_;
};

using OnTeams = OneCaller<TeamLoops>;

}  // namespace npb_mg
