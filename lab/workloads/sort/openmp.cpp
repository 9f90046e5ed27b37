// SPDX-License-Identifier: Apache-2.0
#include "sort/steps.hpp"

namespace sort {

namespace {

void merge(Merge const m) {
  if (m.small()) return m.run();
  MergeHalves const h = halves(m);
#pragma omp task untied shared(h)
  merge(h.low);
  merge(h.high);
#pragma omp taskwait
}

void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  Halves const n = halves(numbers), s = halves(space);
#pragma omp task untied shared(n, s) firstprivate(away)
  mergesort(n.low, s.low, !away);
  mergesort(n.high, s.high, !away);
#pragma omp taskwait
  merge(away ? Merge{n.low, n.high, space} : Merge{s.low, s.high, numbers});
}

}  // namespace

void mergesort_openmp(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_openmp(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  Halves const parts = partition(numbers);
#pragma omp task untied shared(parts)
  quicksort_openmp(parts.low);
  quicksort_openmp(parts.high);
#pragma omp taskwait
}

}  // namespace sort
