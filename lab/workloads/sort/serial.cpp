// SPDX-License-Identifier: Apache-2.0
#include "sort/steps.hpp"

namespace sort {

namespace {

void merge(Merge const m) {
  if (m.small()) return m.run();
  auto const [low, high] = halves(m);
  merge(low);
  merge(high);
}

// Into `space` when `away`, else in place.
void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  auto const [low, high] = halves(numbers);
  auto const [low_space, high_space] = halves(space);
  mergesort(low, low_space, !away);
  mergesort(high, high_space, !away);
  merge(away ? Merge{low, high, space} : Merge{low_space, high_space, numbers});
}

}  // namespace

void mergesort_serial(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_serial(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  auto const [low, high] = partition(numbers);
  quicksort_serial(low);
  quicksort_serial(high);
}

}  // namespace sort
