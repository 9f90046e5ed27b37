// SPDX-License-Identifier: Apache-2.0
#pragma once
// One thread's sort, in place: quicksort without branches that depend on the data.
//
// Sources: Musser's introsort (heapsort once the partitions are bad); the cyclic Lomuto partition
// and the small sorts of ipnsort by Bergdoll and Peters (Rust's sort_unstable, 2024); partitions by
// an equal pivot as in Peters' pattern-defeating quicksort.
//
// O(n log n) comparisons and moves, O(log n) memory. When a comparison throws, or contradicts
// itself, the range holds the elements that it held before, in some order: none is lost or doubled.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <type_traits>
#include <utility>

namespace nigh::detail {

// Elements for which a spare copy costs less than a branch that the processor guesses wrongly.
template <class T>
inline constexpr bool is_small_plain =
    std::conjunction_v<std::is_trivially_copyable<T>, std::is_trivially_copy_constructible<T>,
                       std::is_trivially_copy_assignable<T>> &&
    sizeof(T) <= 64;

// Moves that cannot fail: such elements go through raw memory, and are put back on an exception.
template <class T>
inline constexpr bool moves_safely =
    std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;

// Elements for which goes_left holds come first; returns how many. Calls it n times.
template <class Iterator, class GoesLeft>
auto partition_serially(Iterator v, std::iter_difference_t<Iterator> n, GoesLeft const& goes_left) {
  using T = std::iter_value_t<Iterator>;
  using index = std::iter_difference_t<Iterator>;
  index left = 0;
  if constexpr (is_small_plain<T>) {  // a hole goes through: [0, left) goes left, [left, hole) not
    if (n == 0) return left;
    struct hole_in_range {
      T const kept;
      Iterator at;
      ~hole_in_range() { *at = kept; }  // also when goes_left throws
    } hole{*v, v};
    body_at_hand<GoesLeft> goes_here = goes_left;  // no store can reach a copy
    auto const step = [&](Iterator at) {
      bool const goes = goes_here(static_cast<T const&>(*at));
      *hole.at = v[left];
      v[left] = *at;
      hole.at = at;
      left += goes;
    };
    auto const end = v + n;
    auto at = v + 1;
    for (; end - at >= 4; at += 4) {
      step(at);
      step(at + 1);
      step(at + 2);
      step(at + 3);
    }
    for (; at != end; ++at) step(at);
    bool const goes = goes_here(hole.kept);
    *hole.at = v[left];
    hole.at = v + left;
    left += goes;
  } else {
    for (index j = n - 1;; ++left, --j) {
      while (left <= j && goes_left(v[left])) ++left;
      while (left < j && !goes_left(v[j])) --j;
      if (left >= j) break;
      std::iter_swap(v + left, v + j);
    }
  }
  return left;
}

template <class Iterator, class Less>
class quick_sorter {
  using T = std::iter_value_t<Iterator>;
  using index = std::iter_difference_t<Iterator>;

 public:
  explicit quick_sorter(Less const& less) : less_(less) {}

  void sort(Iterator v, index n) const {
    if (n < 2) return;
    if (n > few && is_one_run(v, n)) return;
    auto const levels = std::bit_width(static_cast<std::size_t>(n));
    sort_part(v, n, nullptr, 2 * static_cast<int>(levels));
  }

  // Whether all of it is sorted now: it was, or it fell strictly and has been reversed. Most often
  // the first elements tell that it is not.
  bool is_one_run(Iterator v, index n) const {
    index i = 2;
    bool const falls = less_(v[1], v[0]);
    if (falls)
      while (i < n && less_(v[i], v[i - 1])) ++i;
    else
      while (i < n && !less_(v[i], v[i - 1])) ++i;
    if (i < n) return false;
    if (falls) std::reverse(v, v + n);
    return true;
  }

  // At most `few` elements; equal ones keep their order.
  static constexpr index few = is_small_plain<T> ? 32 : 20;
  void sort_few(Iterator v, index n) const {
    if constexpr (plain)
      sort_small(v, n);
    else
      insert_from(v, 1, n);
  }

  // Merges the sorted halves of from[0, n) from both ends. False when comparisons contradict each
  // other. When one throws, `to` gets what `from` holds.
  template <class To>
  bool merge_both_ways(T const* from, index n, To to) const try {
    index l = 0, r = n / 2, l_back = n / 2 - 1, r_back = n - 1;
    for (index i = 0; i < n / 2; ++i) {
      bool const take_right = less_(from[r], from[l]);
      to[i] = from[take_right ? r : l];
      r += take_right;
      l += !take_right;
      bool const take_left = less_(from[r_back], from[l_back]);
      to[n - 1 - i] = from[take_left ? l_back : r_back];
      l_back -= take_left;
      r_back -= !take_left;
    }
    if (n % 2 != 0) {
      bool const from_left = l <= l_back;
      to[n / 2] = from[from_left ? l : r];
      l += from_left;
      r += !from_left;
    }
    return l == l_back + 1 && r == r_back + 1;
  } catch (...) {
    std::copy(from, from + n, to);
    throw;
  }

  // Brings a good pivot to the front of three elements or more.
  void choose_pivot(Iterator v, index n) const { std::iter_swap(v, v + pivot(v, n)); }

 private:
  static constexpr bool plain = is_small_plain<T>;
  static constexpr index many = 64;  // of so many, the pivot is a median of medians

  // `before`: the pivot left of the part, not greater than any of its elements; null: none.
  void sort_part(Iterator v, index n, Iterator const* before, int levels) const {
    Iterator pivot_before{};
    while (n > few) {
      if (levels-- == 0) {
        return heap_sort(v, n);
      }
      choose_pivot(v, n);
      if (before != nullptr && !less_(**before, *v)) {  // all that equal the pivot are in place
        auto const equal =
            partition(v, n, [this](auto const& p, auto const& x) { return !less_(p, x); });
        v += equal + 1;
        n -= equal + 1;
        before = nullptr;
        continue;
      }
      auto const at = partition(v, n, [this](auto const& p, auto const& x) { return less_(x, p); });
      sort_part(v, at, before, levels);
      pivot_before = v + at;
      before = &pivot_before;
      v += at + 1;
      n -= at + 1;
    }
    sort_few(v, n);
  }

  // By swaps: the standard library's holds an element in a variable while it compares.
  void heap_sort(Iterator v, index n) const {
    for (index i = n / 2; i-- > 0;) sift(v, i, n);
    for (index end = n - 1; end > 0; --end) {
      std::iter_swap(v, v + end);
      sift(v, 0, end);
    }
  }
  void sift(Iterator v, index i, index n) const {
    for (index child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && less_(v[child], v[child + 1])) ++child;
      if (!less_(v[i], v[child])) return;
      std::iter_swap(v + i, v + child);
    }
  }

  index pivot(Iterator v, index n) const {
    auto const eighth = n / 8;
    index const a = 0, b = eighth * 4, c = eighth * 7;
    return n < many ? median(v, a, b, c) : median_of_medians(v, a, b, c, eighth);
  }
  index median(Iterator v, index a, index b, index c) const {
    bool const b_first = less_(v[b], v[a]), c_first = less_(v[c], v[a]);
    if (b_first != c_first) return a;
    return less_(v[c], v[b]) != b_first ? c : b;
  }
  index median_of_medians(Iterator v, index a, index b, index c, index n) const {
    if (n * 8 >= many) {
      auto const eighth = n / 8;
      auto const of = [&](index at) {
        return median_of_medians(v, at, at + eighth * 4, at + eighth * 7, eighth);
      };
      a = of(a), b = of(b), c = of(c);
    }
    return median(v, a, b, c);
  }

  // The pivot, v[0], comes to the place that is returned: goes_left(pivot, x) holds for the
  // elements before it, and for none behind.
  template <class GoesLeft>
  static index partition(Iterator v, index n, GoesLeft const& goes_left) {
    index left = 0;
    if constexpr (is_small_plain<T>) {
      left = partition_serially(
          v + 1, n - 1, [pivot = T(*v), &goes_left](T const& x) { return goes_left(pivot, x); });
    } else {
      auto const& pivot = *v;
      left = partition_serially(v + 1, n - 1, [&](T const& x) { return goes_left(pivot, x); });
    }
    std::iter_swap(v, v + left);
    return left;
  }

  // [0, from) is sorted.
  void insert_from(Iterator v, index from, index n) const {
    if constexpr (!moves_safely<T>) {  // only exchanges: nothing is to be put back
      for (index i = from; i < n; ++i)
        for (auto j = i; j > 0 && less_(v[j], v[j - 1]); --j) std::iter_swap(v + j, v + (j - 1));
    } else {
      for (index i = from; i < n; ++i) {
        if (!less_(v[i], v[i - 1])) continue;
        struct hole_in_range {
          T kept;
          Iterator at;
          ~hole_in_range() { *at = std::move(kept); }
        } hole{std::move(v[i]), v + i};
        do {
          *hole.at = std::move(hole.at[-1]);
          --hole.at;
        } while (hole.at != v && less_(hole.kept, hole.at[-1]));
      }
    }
  }

  // Sorts a copy, and merges it back.
  void sort_small(Iterator v, index n) const {
    if (n < 2) return;
    alignas(T) std::byte room[(few + 8) * sizeof(T)];
    T* const copy = reinterpret_cast<T*>(room);
    auto const half = n / 2;
    if (n < 8) return insert_from(v, 1, n);
    sort_half(v, half, copy, copy + n);
    sort_half(v + half, n - half, copy + half, copy + n);
    if (!merge_both_ways(copy, n, v)) std::copy(copy, copy + n, v);
  }
  void sort_half(Iterator v, index n, T* to, T* room) const {
    index sorted = 4;
    if (n >= 8) {
      sort4(v, room);
      sort4(v + 4, room + 4);
      for (index i = 0; i < 8; ++i) ::new (static_cast<void*>(to + i)) T(room[i]);
      if (!merge_both_ways(room, 8, to)) std::copy(room, room + 8, to);
      sorted = 8;
    } else {
      sort4(v, to);
    }
    for (index i = sorted; i < n; ++i) {
      T const x = v[i];
      T* at = to + i;
      for (; at != to && less_(x, at[-1]); --at) ::new (static_cast<void*>(at)) T(at[-1]);
      ::new (static_cast<void*>(at)) T(x);
    }
  }
  void sort4(Iterator v, T* to) const {
    auto const choose = [](bool which, index yes, index no) { return which ? yes : no; };
    bool const c1 = less_(v[1], v[0]), c2 = less_(v[3], v[2]);  // of any type that is true or false
    index const a = c1, b = 1 - a, c = 2 + index{c2}, d = 5 - c;
    bool const c3 = less_(v[c], v[a]), c4 = less_(v[d], v[b]);
    index const first = choose(c3, c, a), last = choose(c4, b, d);
    index const left = choose(c3, a, choose(c4, c, b)), right = choose(c4, d, choose(c3, b, c));
    bool const c5 = less_(v[right], v[left]);
    ::new (static_cast<void*>(to)) T(v[first]);
    ::new (static_cast<void*>(to + 1)) T(v[choose(c5, right, left)]);
    ::new (static_cast<void*>(to + 2)) T(v[choose(c5, left, right)]);
    ::new (static_cast<void*>(to + 3)) T(v[last]);
  }

  Less const& less_;
};

template <class Iterator, class Less>
void quick_sort(Iterator first, Iterator last, Less const& less) {
  if constexpr (std::contiguous_iterator<Iterator>) {
    using pointer = std::add_pointer_t<std::remove_reference_t<std::iter_reference_t<Iterator>>>;
    pointer const data = std::to_address(first);
    quick_sorter<pointer, Less>(less).sort(data, last - first);
  } else {
    quick_sorter<Iterator, Less>(less).sort(first, last - first);
  }
}

}  // namespace nigh::detail
