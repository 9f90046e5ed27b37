// SPDX-License-Identifier: Apache-2.0
// A histogram, as OpenMP programs count it in an array of omp_get_max_threads() parts, and by a per_worker.

#include <omp.h>

#include <cstddef>
#include <cstdio>
#include <functional>
#include <nigh/parallel_for.hpp>
#include <nigh/per_worker.hpp>
#include <vector>

constexpr std::size_t bins = 8;

std::size_t bin(std::size_t i) { return (i * i + i / 7) % bins; }

std::vector<long> by_openmp(std::size_t n) {
  std::vector<std::vector<long>> parts(static_cast<std::size_t>(omp_get_max_threads()),
                                       std::vector<long>(bins));
#pragma omp parallel for
  for (std::size_t i = 0; i < n; ++i)
    ++parts[static_cast<std::size_t>(omp_get_thread_num())][bin(i)];

  std::vector<long> total(bins);
  for (auto const& part : parts)
    for (std::size_t b = 0; b < bins; ++b) total[b] += part[b];
  return total;
}

std::vector<long> by_nigh(std::size_t n) {
  nigh::per_worker<std::vector<long>> parts([] { return std::vector<long>(bins); });
  nigh::parallel_for(std::size_t{0}, n, [&](nigh::index_range piece) {
    auto& part = parts.local();
    for (auto i = piece.begin; i < piece.end; ++i) ++part[bin(i)];
  });

  std::vector<long> total(bins);
  parts.for_each([&](std::vector<long> const& part) {
    for (std::size_t b = 0; b < bins; ++b) total[b] += part[b];
  });
  return total;
}

int main() {
  constexpr std::size_t n = 1'000'000;
  auto const a = by_openmp(n), b = by_nigh(n);
  std::printf("bin  OpenMP    nigh\n");
  for (std::size_t i = 0; i < bins; ++i) std::printf("%3zu  %6ld  %6ld\n", i, a[i], b[i]);

  nigh::per_worker<double> sums;
  nigh::parallel_for(0, 1000, [&](int i) { sums.local() += i; });
  std::printf("sum  %.0f\n", sums.combine(std::plus<>()));
}
