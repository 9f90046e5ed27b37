// SPDX-License-Identifier: Apache-2.0
// Sums the rows of a table, each by a task that runs where the row lies.
#include <cstdio>
#include <nigh/array.hpp>
#include <nigh/openmp_locality_queues.hpp>
#include <numeric>
#include <vector>

int main() {
  constexpr std::size_t rows = 2000;
  constexpr std::size_t columns = 8192;
  // Sixteen rows at a time to each domain in turn.
  nigh::array<float> table(rows * columns, nigh::placement::cyclic(16 * columns));
  std::vector<float> sums(rows);
  nigh::openmp::locality_queues<std::size_t> queues(nigh::this_host());

#pragma omp parallel
#pragma omp single
  for (std::size_t row = 0; row < rows; ++row) {
    queues.enqueue(table.domain_of(row * columns), row);
#pragma omp task
    queues.process_one([&](std::size_t mine) {
      float* const first = table.data() + mine * columns;
      std::iota(first, first + columns, static_cast<float>(mine));
      sums[mine] = std::accumulate(first, first + columns, 0.0F);
    });
  }

  auto const counters = queues.counters();
  std::printf("%llu rows summed at home, %llu elsewhere (%.1f%%)\n",
              static_cast<unsigned long long>(counters.local),
              static_cast<unsigned long long>(counters.remote), 100 * counters.remote_share());
}
