// SPDX-License-Identifier: Apache-2.0
// A task loop over the layers of blocks; a team shares the rows of blocks of its layer.
#include <nigh/task_loop.hpp>

#include "jacobi3d/teams.hpp"
#include "nigh_options.hpp"

namespace jacobi3d {

OnTeams::OnTeams(Team const& team, nigh::spread spread, int active)
    : runtime_(workloads::nigh_options(team)), spreads_(spread, active) {}

void OnTeams::sweep(Sweep const& s) {
  Blocks const& blocks = s.plan->blocks;
  Extent const along = blocks.along();
  nigh::task_loop_options options = spreads_.of({});
  options.where = &runtime_;
  nigh::task_loop(
      static_cast<std::size_t>(along.k),
      [&](std::size_t layer, nigh::team const& team) {
        team.parallel_for(std::ptrdiff_t{0}, along.j, [&](std::ptrdiff_t row) {
          for (std::ptrdiff_t i = 0; i < along.i; ++i)
            s.run(blocks.number(i, row, static_cast<std::ptrdiff_t>(layer)));
        });
      },
      options);
}

void add_nigh_teams(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/auto",
                  false,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    return std::make_unique<OnTeams>(team, nigh::spread::automatic, 0);
                  },
                  {}});
}

}  // namespace jacobi3d
