// SPDX-License-Identifier: Apache-2.0
// Standard parallel algorithms. Nothing here is nigh's, apart from the first line, for which
// `-include nigh/pstl.hpp` does as well.
#include <nigh/pstl.hpp>
// Then all others.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <execution>
#include <functional>
#include <numeric>
#include <vector>

int main() {
  constexpr std::uint64_t n = 5'000'000;
  std::vector<std::uint64_t> v(n);
  std::iota(v.begin(), v.end(), 0);
  // Every number below n once, in disorder: the factor and n have no common divisor.
  std::for_each(std::execution::par, v.begin(), v.end(), [](auto& x) { x = x * 7919 % n; });

  auto const sum = std::reduce(std::execution::par, v.begin(), v.end());
  auto const even =
      std::count_if(std::execution::par, v.begin(), v.end(), [](auto x) { return x % 2 == 0; });
  std::sort(std::execution::par, v.begin(), v.end(), std::greater<>());
  std::printf("sum %llu, even %lld, greatest %llu, least %llu\n",
              static_cast<unsigned long long>(sum), static_cast<long long>(even),
              static_cast<unsigned long long>(v.front()),
              static_cast<unsigned long long>(v.back()));
}
