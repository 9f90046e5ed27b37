// SPDX-License-Identifier: Apache-2.0
#include <nigh/fork_join.hpp>

#include "sort/steps.hpp"

namespace sort {

namespace {

using nigh::fork_join;

void merge(Merge const m) {
  if (m.small()) return m.run();
  MergeHalves const h = halves(m);
  fork_join([&h] { merge(h.low); }, [&h] { merge(h.high); });
}

void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  Halves const n = halves(numbers), s = halves(space);
  fork_join([&] { mergesort(n.low, s.low, !away); }, [&] { mergesort(n.high, s.high, !away); });
  merge(away ? Merge{n.low, n.high, space} : Merge{s.low, s.high, numbers});
}

}  // namespace

void mergesort_nigh(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_nigh(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  Halves const parts = partition(numbers);
  fork_join([&parts] { quicksort_nigh(parts.low); }, [&parts] { quicksort_nigh(parts.high); });
}

}  // namespace sort
