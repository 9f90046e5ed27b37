// SPDX-License-Identifier: Apache-2.0
#include <nigh/task_scope.hpp>

#include "sparselu/config.hpp"

namespace sparselu {

void solve_nigh(Matrix& matrix) {
  int const n = matrix.blocks();
  nigh::task_scope tasks;
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) tasks.spawn([step, j] { step.solve_row(j); });
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) tasks.spawn([step, i] { step.solve_column(i); });
    tasks.wait();
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) tasks.spawn([step, i, j] { step.update(i, j); });
    tasks.wait();
  }
}

}  // namespace sparselu
