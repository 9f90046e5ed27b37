// SPDX-License-Identifier: Apache-2.0
#include "sparselu/teams.hpp"

#include <nigh/parallel_for.hpp>
#include <vector>

#include "sparselu/config.hpp"

namespace sparselu {

void solve_on_teams(Matrix& matrix, nigh::task_loop_options const& options) {
  int const n = matrix.blocks();
  std::vector<int> rows, columns;
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    rows.clear(), columns.clear();
    for (int i = k + 1; i < n; ++i) {
      if (step.in_column(i)) rows.push_back(i);
      if (step.in_row(i)) columns.push_back(i);
    }
    std::size_t const solves = rows.size() + columns.size();
    nigh::parallel_for(std::size_t{0}, solves, [&](std::size_t s) {
      if (s < rows.size())
        step.solve_column(rows[s]);
      else
        step.solve_row(columns[s - rows.size()]);
    });
    nigh::task_loop(
        rows.size(),
        [&](std::size_t row, nigh::team const& team) {
          team.parallel_for(std::size_t{0}, columns.size(),
                            [&](std::size_t column) { step.update(rows[row], columns[column]); });
        },
        options);
  }
}

}  // namespace sparselu
