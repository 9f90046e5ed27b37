// SPDX-License-Identifier: Apache-2.0
#pragma once
// Partitions and sorts of several threads that need no memory for elements.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/quick_sort.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <type_traits>

namespace nigh::detail {

inline constexpr std::size_t least_sorted = 4096;        // one thread sorts less
inline constexpr std::size_t least_partitioned = 32768;  // one thread partitions less

// Runs f so that its forks and loops belong to `where`, as a loop's options say.
template <class F>
void run_in(runtime* where, F const& f) {
  loop_options options;
  options.where = where;
  nigh::parallel_for(0, 1, [&f](int) { f(); }, options);
}

// Whether check(first, last) holds for every piece of [1, n). Most often the first elements tell that
// it does not, so one thread looks at `alone` of them before the others take part.
// each(n, grain, f) calls f(first, last) for pieces of [0, n), by many threads.
template <class Each, class Check>
bool holds_throughout(std::size_t n, std::size_t alone, Each const& each, Check const& check) {
  constexpr std::size_t grain = 4096;
  if (!check(std::size_t{1}, std::min(alone, n))) return false;
  if (alone >= n) return true;
  sync::atomic<bool> fails{false};  // relaxed: the loop's end orders it before the last look
  each(n, grain, [&](std::size_t first, std::size_t last) {
    for (auto at = std::max<std::size_t>(first, 1); at < last && !fails.load(sync::relaxed); at += grain)
      if (!check(at, std::min(at + grain, last))) fails.store(true, sync::relaxed);
  });
  return !fails.load(sync::relaxed);
}

// Each part is partitioned by one thread; then what lies on the wrong side of the common border
// is swapped: the k-th such element of the left side with the k-th of the right side.
template <class Iterator, class GoesLeft>
auto partition_in_place(Iterator v, std::iter_difference_t<Iterator> n, GoesLeft const& goes_left) {
  using index = std::iter_difference_t<Iterator>;
  constexpr index most_parts = 64;
  auto const workers = static_cast<index>(workers_for_loops(nullptr));
  auto const parts = std::min({2 * workers, most_parts, n / static_cast<index>(least_sorted)});
  if (parts < 2 || workers < 2 || n < static_cast<index>(least_partitioned))
    return partition_serially(v, n, goes_left);

  std::array<index, most_parts> left{};
  auto const begin = [&](index part) { return n / parts * part + std::min(part, n % parts); };
  nigh::parallel_for(
      index{0}, parts,
      [&](index p) {
        left[static_cast<std::size_t>(p)] =
            partition_serially(v + begin(p), begin(p + 1) - begin(p), goes_left);
      },
      dynamic_schedule());
  index border = 0;
  for (index p = 0; p < parts; ++p) border += left[static_cast<std::size_t>(p)];

  // [from, from + count), `before` misplaced elements of its side come before.
  struct run {
    index from, count, before;
  };
  std::array<run, most_parts> to_left, to_right;
  std::size_t lefts = 0, rights = 0;
  index misplaced = 0, on_the_right = 0;
  for (index p = 0; p < parts; ++p) {
    auto const middle = begin(p) + left[static_cast<std::size_t>(p)];
    if (auto const end = std::min(begin(p + 1), border); middle < end) {
      to_right[rights++] = {middle, end - middle, misplaced};
      misplaced += end - middle;
    }
    if (auto const from = std::max(begin(p), border); from < middle) {
      to_left[lefts++] = {from, middle - from, on_the_right};
      on_the_right += middle - from;
    }
  }
  loop_options options;
  options.grain = least_sorted;
  nigh::parallel_for(
      std::size_t{0}, static_cast<std::size_t>(misplaced),
      [&](index_range r) {
        auto const run_of = [](auto const& runs, std::size_t count, index at) {
          return std::upper_bound(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(count),
                                  at, [](index k, run const& x) { return k < x.before; }) -
                 1;
        };
        for (auto k = static_cast<index>(r.begin); k < static_cast<index>(r.end);) {
          auto const a = run_of(to_right, rights, k), b = run_of(to_left, lefts, k);
          auto const count =
              std::min({a->before + a->count, b->before + b->count, static_cast<index>(r.end)}) - k;
          auto const x = v + (a->from + k - a->before);
          std::swap_ranges(x, x + count, v + (b->from + k - b->before));
          k += count;
        }
      },
      options);
  return border;
}

// Quicksort whose large partitions are parallel. O(n log n) comparisons and moves.
template <class Iterator, class Less>
void sort_in_place(Iterator v, std::iter_difference_t<Iterator> n, Less const& less, int levels) {
  using index = std::iter_difference_t<Iterator>;
  quick_sorter<Iterator, Less> const serial(less);
  if (n <= static_cast<index>(least_sorted) || levels == 0) return serial.sort(v, n);
  serial.choose_pivot(v, n);
  using T = std::iter_value_t<Iterator>;
  std::conditional_t<is_small_plain<T>, T const, T const&> pivot = *v;
  auto const left = partition_in_place(v + 1, n - 1, [&](T const& x) { return less(x, pivot); });
  auto equal = index{0};
  if (left < n / 8)  // is it one of many equal ones?
    equal =
        partition_in_place(v + 1 + left, n - 1 - left, [&](T const& x) { return !less(pivot, x); });
  std::iter_swap(v, v + left);
  auto const rest = left + 1 + equal;
  nigh::fork_join([&] { sort_in_place(v, left, less, levels - 1); },
            [&] { sort_in_place(v + rest, n - rest, less, levels - 1); });
}
template <class Iterator, class Less>
void sort_in_place(Iterator v, std::iter_difference_t<Iterator> n, Less const& less) {
  if (quick_sorter<Iterator, Less>(less).is_one_run(v, n)) return;
  sort_in_place(v, n, less, 2 * static_cast<int>(std::bit_width(static_cast<std::size_t>(n))));
}

}  // namespace nigh::detail
