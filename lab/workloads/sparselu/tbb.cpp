// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/task_group.h>

#include "sparselu/config.hpp"

namespace sparselu {

void solve_tbb(Matrix& matrix) {
  int const n = matrix.blocks();
  oneapi::tbb::task_group tasks;
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) tasks.run([step, j] { step.solve_row(j); });
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) tasks.run([step, i] { step.solve_column(i); });
    tasks.wait();
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) tasks.run([step, i, j] { step.update(i, j); });
    tasks.wait();
  }
}

}  // namespace sparselu
