// SPDX-License-Identifier: Apache-2.0
// Merge sort: two tasks a half, and a merge that is split in two as well.
#include <algorithm>
#include <vector>

#include "program.hpp"

namespace {

constexpr long alone = 2048;  // elements that one task sorts or merges

void merge(unsigned const* a, long as, unsigned const* b, long bs, unsigned* to) {
  if (as + bs <= alone) {
    std::merge(a, a + as, b, b + bs, to);
    return;
  }
  if (as < bs) return merge(b, bs, a, as, to);
  long const middle = as / 2;
  long const split = std::lower_bound(b, b + bs, a[middle]) - b;
#pragma omp task
  merge(a, middle, b, split, to);
#pragma omp task
  merge(a + middle, as - middle, b + split, bs - split, to + middle + split);
#pragma omp taskwait
}

// Sorts `data`; `into`: the result goes to `other`.
void sort(unsigned* data, unsigned* other, long count, bool into) {
  if (count <= alone) {
    std::sort(data, data + count);
    if (into) std::copy(data, data + count, other);
    return;
  }
  long const half = count / 2;
#pragma omp task
  sort(data, other, half, !into);
#pragma omp task
  sort(data + half, other + half, count - half, !into);
#pragma omp taskwait
  if (into)
    merge(data, half, data + half, count - half, other);
  else
    merge(other, half, other + half, count - half, data);
}

}  // namespace

int main(int argc, char** argv) {
  long const count = task_program::size_from(argc, argv, 4'000'000, {1, 1'000'000'000});
  std::vector<unsigned> data(static_cast<std::size_t>(count)), other(data.size());
  task_program::Sequence numbers(1);
  unsigned long before = 0;
  for (unsigned& x : data) before += x = numbers.next();
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    sort(data.data(), other.data(), count, false);
  });
  unsigned long after = 0;
  for (unsigned const x : data) after += x;
  return task_program::report(seconds, after == before && std::is_sorted(data.begin(), data.end()));
}
