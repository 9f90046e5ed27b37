// SPDX-License-Identifier: Apache-2.0
// A user's program that knows nothing of nigh: nigh::pstl has its parallel algorithms run there.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <execution>
#include <numeric>
#include <typeinfo>
#include <vector>

int main() {
  std::vector<int> v(100000);
  std::iota(v.rbegin(), v.rend(), 0);
  std::sort(std::execution::par, v.begin(), v.end());
  auto const* const kind = typeid(std::execution::par).name();
  bool const by_nigh = std::strstr(kind, "__pstl_nigh") != nullptr;
  std::printf("first %d, last %d, %s\n", v.front(), v.back(), by_nigh ? "by nigh" : kind);
  return by_nigh && std::is_sorted(v.begin(), v.end()) ? 0 : 1;
}
