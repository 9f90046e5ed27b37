// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_merge: one sorted sequence of two.

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <nigh/detail/in_place_sort.hpp>
#include <nigh/detail/merge_sort.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace nigh {

// Copies the elements of two sorted sequences (moves them, of std::move_iterator), sorted, to the one that begins
// at `out`, and returns its end. Of equal elements, those of the first come first. All iterators are random access; `out`
// overlaps neither input. O(n) comparisons and copies, no memory. `less` is called by several
// threads at once, of the workers of `where` (null: the calling worker's runtime, otherwise the
// default one). When it or a copy throws, one such exception is rethrown, and the output holds
// valid elements. Inputs that are not sorted give a sequence in some order; a reversed range is empty.
template <detail::random_access A, detail::random_access B, std::random_access_iterator Out, class Less = std::less<>>
Out parallel_merge(A first1, A last1, B first2, B last2, Out out, Less const& less = {},
                   runtime* where = nullptr) {
  static_assert(std::is_lvalue_reference_v<std::iter_reference_t<Out>>,
                "a parallel merge's output consists of objects, not of bits of a vector<bool>");
  auto const n1 = detail::length_of(first1, last1);
  auto const n2 = detail::length_of(first2, last2);
  if (n1 == 0) last1 = first1;
  if (n2 == 0) last2 = first2;
  if (n1 + n2 <= detail::least_merged)
    return detail::merge_serially(first1, last1, first2, last2, out, less);
  detail::run_in(where, [&] { detail::merge_by_halves(first1, last1, first2, last2, out, less); });
  return out + static_cast<std::iter_difference_t<Out>>(n1 + n2);
}

// The same of ranges. If `out` is a range, too, its length is that of both together: otherwise
// std::invalid_argument.
template <std::ranges::random_access_range A, std::ranges::random_access_range B,
          std::random_access_iterator Out, class Less = std::less<>>
  requires std::ranges::sized_range<A> && std::ranges::sized_range<B>
Out parallel_merge(A&& a, B&& b, Out out, Less const& less = {}, runtime* where = nullptr) {
  auto const first1 = std::ranges::begin(a);
  auto const first2 = std::ranges::begin(b);
  return nigh::parallel_merge(first1, first1 + std::ranges::ssize(a), first2,
                        first2 + std::ranges::ssize(b), out, less, where);
}
template <std::ranges::random_access_range A, std::ranges::random_access_range B,
          std::ranges::random_access_range Out, class Less = std::less<>>
  requires std::ranges::sized_range<A> && std::ranges::sized_range<B> &&
           std::ranges::sized_range<Out>
void parallel_merge(A&& a, B&& b, Out&& out, Less const& less = {}, runtime* where = nullptr) {
  auto const n = std::ranges::size(a) + std::ranges::size(b);
  if (std::ranges::size(out) != n)
    throw std::invalid_argument("a merge of " + std::to_string(std::ranges::size(a)) + " and " +
                                std::to_string(std::ranges::size(b)) + " elements into " +
                                std::to_string(std::ranges::size(out)));
  nigh::parallel_merge(a, b, std::ranges::begin(out), less, where);
}

}  // namespace nigh
