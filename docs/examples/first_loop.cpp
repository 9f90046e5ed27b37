// SPDX-License-Identifier: Apache-2.0
// Fills a placed array and sums it, each element in the domain of its page.
#include <cmath>
#include <cstdio>
#include <functional>
#include <nigh/array.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>

int main() {
  constexpr std::size_t n = 10'000'000;
  nigh::array<double> x(n, nigh::placement::blocked());
  auto const near = nigh::local_schedule(x);
  nigh::parallel_for(std::size_t{0}, n, [&](std::size_t i) { x[i] = std::sqrt(i); }, near);
  auto const sum = nigh::parallel_reduce(
      std::size_t{0}, n, 0.0, [&](std::size_t i) { return x[i]; }, std::plus(), near);
  std::printf("sum of the roots: %.6e, 2/3 n^1.5: %.6e\n", sum, 2.0 / 3 * std::pow(n, 1.5));
}
