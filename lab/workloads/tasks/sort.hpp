// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two recursive sorts of 32-bit numbers: merge sort, whose merges are divided as well, and
// quicksort, which partitions in one thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sort {

using Numbers = std::span<std::uint32_t>;
using Sorted = std::span<std::uint32_t const>;

// The same for every variant: shorter pieces are left to std::sort or std::merge.
inline constexpr std::size_t leaf = 2048;

void mergesort_serial(Numbers numbers, Numbers space);  // as many elements as numbers
void mergesort_openmp(Numbers numbers, Numbers space);
void mergesort_tbb(Numbers numbers, Numbers space);
void mergesort_nigh(Numbers numbers, Numbers space);

void quicksort_serial(Numbers numbers);
void quicksort_openmp(Numbers numbers);
void quicksort_tbb(Numbers numbers);
void quicksort_nigh(Numbers numbers);

// How the sorts divide their work; the variants differ only in who does the parts.

struct Halves {
  Numbers low, high;
};

inline Halves halves(Numbers all) noexcept {
  return {all.first(all.size() / 2), all.subspan(all.size() / 2)};
}

struct Merge {
  Sorted a, b;
  Numbers to;  // as many as a and b together

  bool small() const noexcept { return to.size() <= leaf; }
  void run() const;
};

// Two merges that together do this one: everything below the middle of the longer input, and the
// rest.
struct MergeHalves {
  Merge low, high;
};

inline MergeHalves halves(Merge m) noexcept {
  if (m.a.size() < m.b.size()) std::swap(m.a, m.b);
  std::size_t const middle = m.a.size() / 2;
  auto const at = std::lower_bound(m.b.begin(), m.b.end(), m.a[middle]) - m.b.begin();
  auto const below = static_cast<std::size_t>(at);
  return {{m.a.first(middle), m.b.first(below), m.to.first(middle + below)},
          {m.a.subspan(middle), m.b.subspan(below), m.to.subspan(middle + below)}};
}

// Around the median of three; what equals it is in neither part, so equal numbers do not degrade
// it.
Halves partition(Numbers all);

void sort_leaf(Numbers all);

}  // namespace sort
