// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/parallel_invoke.h>

#include "sort/steps.hpp"

namespace sort {

namespace {

using oneapi::tbb::parallel_invoke;

void merge(Merge const m) {
  if (m.small()) return m.run();
  MergeHalves const h = halves(m);
  parallel_invoke([&h] { merge(h.low); }, [&h] { merge(h.high); });
}

void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  Halves const n = halves(numbers), s = halves(space);
  parallel_invoke([&] { mergesort(n.low, s.low, !away); },
                  [&] { mergesort(n.high, s.high, !away); });
  merge(away ? Merge{n.low, n.high, space} : Merge{s.low, s.high, numbers});
}

}  // namespace

void mergesort_tbb(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_tbb(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  Halves const parts = partition(numbers);
  parallel_invoke([&parts] { quicksort_tbb(parts.low); }, [&parts] { quicksort_tbb(parts.high); });
}

}  // namespace sort
