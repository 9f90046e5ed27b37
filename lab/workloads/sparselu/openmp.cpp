// SPDX-License-Identifier: Apache-2.0
#include "sparselu/config.hpp"

namespace sparselu {

void solve_openmp(Matrix& matrix) {
  int const n = matrix.blocks();
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) {
#pragma omp task untied firstprivate(step, j)
        step.solve_row(j);
      }
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) {
#pragma omp task untied firstprivate(step, i)
        step.solve_column(i);
      }
#pragma omp taskwait
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) {
#pragma omp task untied firstprivate(step, i, j)
          step.update(i, j);
        }
#pragma omp taskwait
  }
}

}  // namespace sparselu
