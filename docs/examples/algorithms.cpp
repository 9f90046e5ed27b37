// SPDX-License-Identifier: Apache-2.0
// Algorithms over a vector, over integers and over every third element.
#include <cmath>
#include <cstdio>
#include <nigh/algorithm.hpp>
#include <vector>

int main() {
  constexpr std::size_t n = 1'000'000;
  std::vector<double> v(n);
  nigh::parallel_generate(v,
                          [](std::size_t i) { return std::sin(0.001 * static_cast<double>(i)); });
  auto const total = nigh::parallel_reduce(v, nigh::sum);
  auto const highest = nigh::parallel_max_element(v) - v.begin();
  std::printf("sum %.6f, highest at %td\n", total, highest);

  auto const steep =
      nigh::parallel_filter(std::size_t{1}, n, [&](std::size_t i) { return v[i] * v[i - 1] < 0; });
  std::printf("%zu changes of sign, the first at %zu\n", steep.size(), steep.front());

  auto const first = nigh::parallel_find_if(v, [](double x) { return x > 0.5; }) - v.begin();
  std::printf("above 0.5 from %td on, %zu in all\n", first,
              nigh::parallel_count_if(v, [](double x) { return x > 0.5; }));

  auto const bins = nigh::parallel_histogram(
      v, 4, [](double x) { return x == 1 ? 3 : static_cast<int>(2 * x + 2); });
  std::printf("quarters: %zu %zu %zu %zu\n", bins[0], bins[1], bins[2], bins[3]);

  std::vector<double> square(n);
  nigh::parallel_transform(v, square, [](double x) { return x * x; });
  nigh::parallel_for(nigh::strided(square, 3), [](double& x) { x = 0; });
  std::printf("squares but every third: %.4f\n", nigh::parallel_reduce(square, nigh::sum));

  nigh::parallel_transform(v, v, [](double x) { return std::floor(4 * x); });
  v.erase(nigh::parallel_unique(v), v.end());
  std::printf("%zu steps\n", v.size());
}
