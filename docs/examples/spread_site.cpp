// SPDX-License-Identifier: Apache-2.0
// A loop over blocks, again and again: how many workers a block finds itself.
#include <cstdio>
#include <nigh/task_loop.hpp>
#include <vector>

int main() {
  constexpr std::size_t blocks = 64, rows = 96, columns = 512;
  std::vector<double> grid(blocks * rows * columns, 1.0);
  nigh::spread_site site("scale");
  for (int step = 0; step < 200; ++step)
    nigh::task_loop(blocks,
                    [&](std::size_t block, nigh::team const& team) {
                      double* const first = grid.data() + block * rows * columns;
                      for (int sweep = 0; sweep < 4; ++sweep)
                        team.parallel_for(std::size_t{0}, rows, [&](std::size_t row) {
                          for (std::size_t i = row * columns; i < (row + 1) * columns; ++i)
                            first[i] *= 0.999;
                        });
                    },
                    {.site = &site});
  auto const found = site.next();
  std::printf("%s: spread %d, %d workers, after %d trials\n", site.is_holding() ? "holds" : "tries",
              found.spread, found.active, site.trials());
}
