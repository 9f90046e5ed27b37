// SPDX-License-Identifier: Apache-2.0
// Sorts, scans, merges and partitions (docs/sorts.md).
#include <cstdio>
#include <functional>
#include <nigh/parallel_merge.hpp>
#include <nigh/parallel_partition.hpp>
#include <nigh/parallel_scan.hpp>
#include <nigh/parallel_sort.hpp>
#include <string>
#include <vector>

namespace {

template <class T>
void print(char const* what, std::vector<T> const& v) {
  std::printf("%-10s", what);
  for (T const x : v) std::printf(" %g", static_cast<double>(x));
  std::printf("\n");
}

}  // namespace

int main() {
  std::vector<double> v{3, -1, 2, 0.5};
  nigh::parallel_sort(v);
  print("sorted", v);
  nigh::parallel_sort(v, std::greater<>());
  print("falling", v);

  std::vector<std::string> names{"mul", "add", "sub"};
  std::vector<int> counts{30, 10, 20};
  nigh::parallel_sort_by_key(names, counts);
  print("by key", counts);

  std::vector<double> sums(v.size());
  double const total = nigh::parallel_inclusive_scan(v, sums, 0.0);
  print("sums", sums);
  std::printf("%-10s %g\n", "total", total);

  std::vector<int> const even{0, 2, 4}, odd{1, 3, 5};
  std::vector<int> all(6);
  nigh::parallel_merge(even, odd, all);
  print("merged", all);
  nigh::parallel_stable_partition(all, [](int x) { return x >= 3; });
  print("from 3 on", all);
}
