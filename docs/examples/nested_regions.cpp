// SPDX-License-Identifier: Apache-2.0
// OpenMP alone: blocks by one region, the rows of each by another one inside it. How many threads
// either has is left to whoever runs it: `nigh run --spread auto`.
#include <cstddef>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::size_t blocks = 64, rows = 96, columns = 512;
  std::vector<double> grid(blocks * rows * columns, 1.0);
  for (int step = 0; step < 200; ++step) {
#pragma omp parallel for schedule(static)
    for (std::size_t block = 0; block < blocks; ++block) {
      double* const first = grid.data() + block * rows * columns;
#pragma omp parallel
      for (int sweep = 0; sweep < 4; ++sweep) {
#pragma omp for
        for (std::size_t row = 0; row < rows; ++row)
          for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) first[i] *= 0.999;
      }
    }
  }
  std::printf("%.6f\n", grid.front() + grid.back());
}
