// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_partition, parallel_stable_partition: the elements of which something holds come first.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <nigh/detail/in_place_sort.hpp>
#include <nigh/detail/merge_sort.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/parallel_for.hpp>
#include <type_traits>
#include <utility>

namespace nigh {
namespace detail {

template <class Iterator, class Predicate>
constexpr void check_partition() {
  static_assert(std::is_same_v<std::iter_reference_t<Iterator>, std::iter_value_t<Iterator>&>,
                "a parallel partition's elements are objects that are not const, and no bits of a "
                "vector<bool>");
  static_assert(std::is_invocable_r_v<bool, Predicate const&, std::iter_value_t<Iterator> const&>,
                "a partition's predicate takes an element as const, returns bool, and is called "
                "as const");
}

// Chunks are counted; then each element is moved to a second place, and back. False, and nothing
// done, when there is no memory. `border`: the number of elements of the first group.
template <class Iterator, class Predicate>
bool partition_stably(Iterator v, std::size_t n, Predicate const& first_group,
                      std::size_t& border) {
  using T = std::iter_value_t<Iterator>;
  using index = std::iter_difference_t<Iterator>;
  auto const grain = std::max(least_partitioned / 4, n / (16 * workers_for_loops(nullptr)) + 1);
  auto const chunks = (n - 1) / grain + 1;
  raw_room<T> const room(n);
  owned<bool[]> const is_first(new (std::nothrow) bool[n]);
  owned<std::size_t[]> const count(new (std::nothrow) std::size_t[2 * chunks]);
  if (room.data() == nullptr || !is_first || !count) return false;

  loop_options options;
  options.grain = grain;
  auto const each_chunk = [&](auto const& f) {
    nigh::parallel_for(
        std::size_t{0}, n,
        [&](index_range r) {
          for (auto at = r.begin; at < r.end; at += grain) f(at, std::min(r.end, at + grain));
        },
        options);
  };
  each_chunk([&](std::size_t at, std::size_t end) {
    std::size_t mine = 0;
    for (auto i = at; i < end; ++i)
      mine += is_first[i] = first_group(std::as_const(v[static_cast<index>(i)]));
    count[2 * (at / grain)] = mine;
    count[2 * (at / grain) + 1] = end - at - mine;
  });
  std::size_t to = 0;
  for (auto c = std::size_t{0}; c < chunks; ++c) to += std::exchange(count[2 * c], to);
  border = to;
  for (auto c = std::size_t{0}; c < chunks; ++c) to += std::exchange(count[2 * c + 1], to);
  each_chunk([&](std::size_t at, std::size_t end) {
    auto first = count[2 * (at / grain)], second = count[2 * (at / grain) + 1];
    for (auto i = at; i < end; ++i) {
      auto& place = is_first[i] ? first : second;
      ::new (static_cast<void*>(room.data() + place++)) T(std::move(v[static_cast<index>(i)]));
    }
  });
  each_chunk([&](std::size_t at, std::size_t end) {
    std::move(room.data() + at, room.data() + end, v + static_cast<index>(at));
    std::destroy(room.data() + at, room.data() + end);
  });
  return true;
}

}  // namespace detail

// Brings the elements of [first, last), random access, for which first_group(x) holds before the
// others, and returns the first of the others; of a range, those others, as std::ranges::partition.
// Calls first_group once for each element, by several threads at once, of the workers of `where`
// (null: the calling worker's runtime, otherwise the default one). In place, O(n), no memory.
// When first_group throws, one such exception is rethrown, and the range holds the elements that it
// held, in some order.
template <std::random_access_iterator Iterator, class Predicate>
Iterator parallel_partition(Iterator first, Iterator last, Predicate const& first_group,
                            runtime* where = nullptr) {
  detail::check_partition<Iterator, Predicate>();
  auto const n = last - first;
  if (n <= 0) return first;
  if (static_cast<std::size_t>(n) < detail::least_partitioned)
    return first + detail::partition_serially(first, n, first_group);
  auto border = decltype(n){0};
  detail::run_in(where, [&] { border = detail::partition_in_place(first, n, first_group); });
  return first + border;
}
template <std::ranges::random_access_range Range, class Predicate>
  requires std::ranges::sized_range<Range>
std::ranges::borrowed_subrange_t<Range> parallel_partition(Range&& range,
                                                           Predicate const& first_group,
                                                           runtime* where = nullptr) {
  auto const first = std::ranges::begin(range);
  auto const last = first + std::ranges::ssize(range);
  return {nigh::parallel_partition(first, last, first_group, where), last};
}

// The same; in both groups, elements keep their order. Takes a buffer as large as the range and a
// byte for each element; without memory for them, or with a move that may throw, it is
// std::stable_partition, by one thread. When first_group throws, nothing has moved; in the
// latter case, elements are valid but unspecified.
template <std::random_access_iterator Iterator, class Predicate>
Iterator parallel_stable_partition(Iterator first, Iterator last, Predicate const& first_group,
                                   runtime* where = nullptr) {
  detail::check_partition<Iterator, Predicate>();
  auto const n = detail::length_of(first, last);
  if (n == 0) return first;
  if constexpr (detail::moves_safely<std::iter_value_t<Iterator>>) {
    std::size_t border = 0;
    bool done = false;
    detail::run_in(where, [&] { done = detail::partition_stably(first, n, first_group, border); });
    if (done) return first + static_cast<std::iter_difference_t<Iterator>>(border);
  }
  return std::stable_partition(first, last, [&](auto const& x) { return first_group(x); });
}
template <std::ranges::random_access_range Range, class Predicate>
  requires std::ranges::sized_range<Range>
std::ranges::borrowed_subrange_t<Range> parallel_stable_partition(Range&& range,
                                                                  Predicate const& first_group,
                                                                  runtime* where = nullptr) {
  auto const first = std::ranges::begin(range);
  auto const last = first + std::ranges::ssize(range);
  return {nigh::parallel_stable_partition(first, last, first_group, where), last};
}

}  // namespace nigh
