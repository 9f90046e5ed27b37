// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two recursive sorts of 32-bit numbers: merge sort, whose merges are divided as well, and
// quicksort, which partitions in one thread.

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

}  // namespace sort
