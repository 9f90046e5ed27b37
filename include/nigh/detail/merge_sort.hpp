// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stable sorts and merges. At any time an exception may come from a comparison: the range then
// holds the elements that it held before, in some order.

#include <algorithm>
#include <cstddef>
#include <new>
#include <nigh/detail/quick_sort.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/fork_join.hpp>
#include <type_traits>
#include <utility>

namespace nigh::detail {

inline constexpr std::size_t least_merged = 16384;  // one thread merges less

// The steps of a merge of two sequences of small elements. No branches: which one is taken cannot
// be guessed.
template <class A, class B, class Out, class Less>
struct merge_steps {
  A a, a_end;
  B b, b_end;
  Out out;

  bool may_step() const { return a != a_end && b != b_end; }
  void step(Less const& less) {
    bool const from_b = less(*b, *a);
    *out = *(from_b ? __builtin_addressof(*b) : __builtin_addressof(*a));
    ++out;
    b += from_b;
    a += !from_b;
  }
  Out finish(Less const& less) {
    while (may_step()) step(less);
    return std::copy(b, b_end, std::copy(a, a_end, out));
  }
  // Keeps the first half of the result: the longer sequence is cut in its middle, the other one
  // where the middle belongs. Returns the second half.
  merge_steps cut(Less const& less) {
    auto const na = a_end - a;
    auto const nb = b_end - b;
    bool const cut_a = static_cast<std::size_t>(na) >= static_cast<std::size_t>(nb);
    A const a_mid = cut_a ? a + na / 2 : std::upper_bound(a, a_end, b[nb / 2], less);
    B const b_mid = cut_a ? std::lower_bound(b, b_end, a[na / 2], less) : b + nb / 2;
    auto const before = static_cast<std::iter_difference_t<Out>>(a_mid - a) +
                        static_cast<std::iter_difference_t<Out>>(b_mid - b);
    merge_steps const second{a_mid, a_end, b_mid, b_end, out + before};
    a_end = a_mid;
    b_end = b_mid;
    return second;
  }
};

// Copies the merged [a, a_end) and [b, b_end) to `out`; of equal elements, those of a come first.
template <class A, class B, class Out, class Less>
Out merge_serially(A a, A a_end, B b, B b_end, Out out, Less const& less) {
  using T = std::iter_value_t<A>;
  if constexpr (is_small_plain<T> && std::is_same_v<T, std::iter_value_t<B>> &&
                std::is_lvalue_reference_v<std::iter_reference_t<A>> &&
                std::is_lvalue_reference_v<std::iter_reference_t<B>>) {
    merge_steps<A, B, Out, Less> first{a, a_end, b, b_end, out};
    if ((a_end - a) + (b_end - b) < 256) return first.finish(less);
    // Each step waits for the one before: four parts of the result take turns.
    auto third = first.cut(less), second = first.cut(less), fourth = third.cut(less);
    while (first.may_step() && second.may_step() && third.may_step() && fourth.may_step()) {
      first.step(less);
      second.step(less);
      third.step(less);
      fourth.step(less);
    }
    first.finish(less);
    second.finish(less);
    third.finish(less);
    return fourth.finish(less);
  } else {
    for (; a != a_end && b != b_end; ++out) {
      if (less(*b, *a))
        *out = *b++;
      else
        *out = *a++;
    }
    return std::copy(b, b_end, std::copy(a, a_end, out));
  }
}

// The same by several threads: the longer one is cut in its middle, the other one where the middle
// belongs. O(n) work, O(log² n) span.
template <class A, class B, class Out, class Less>
void merge_by_halves(A a, A a_end, B b, B b_end, Out out, Less const& less) {
  auto const na = a_end - a;
  auto const nb = b_end - b;
  if (static_cast<std::size_t>(na) + static_cast<std::size_t>(nb) <= least_merged) {
    merge_serially(a, a_end, b, b_end, out, less);
    return;
  }
  merge_steps<A, B, Out, Less> first{a, a_end, b, b_end, out};
  auto const second = first.cut(less);
  nigh::fork_join([&] { merge_by_halves(a, first.a_end, b, first.b_end, out, less); },
            [&] { merge_by_halves(second.a, a_end, second.b, b_end, second.out, less); });
}

// Memory for `count` elements, none of them made. data() is null when there is none to be had.
template <class T>
class raw_room {
 public:
  explicit raw_room(std::size_t count)
      : data_(static_cast<T*>(
            ::operator new(count * sizeof(T), std::align_val_t(alignof(T)), std::nothrow))) {}
  ~raw_room() { ::operator delete(data_, std::align_val_t(alignof(T))); }
  raw_room(raw_room&&) = delete;
  raw_room& operator=(raw_room&&) = delete;
  T* data() const noexcept { return data_; }

 private:
  T* data_;
};

// Joins the sorted runs v[0, middle) and v[middle, n), with room for `middle` elements.
template <class Iterator, class T, class Less>
void join_runs(Iterator v, std::iter_difference_t<Iterator> middle,
               std::iter_difference_t<Iterator> n, T* room, Less const& less) {
  // The first run, moved away. The hole in v has room for what is left of it.
  struct moved_run {
    T* const room;
    T* a;
    T* const a_end;
    Iterator hole;
    ~moved_run() {
      std::move(a, a_end, hole);
      std::destroy(room, a_end);
    }
  } left{room, room, std::uninitialized_move(v, v + middle, room), v};
  auto b = v + middle;
  auto const b_end = v + n;
  while (left.a != left.a_end && b != b_end) {
    if (less(*b, *left.a)) {
      *left.hole = std::move(*b++);
    } else {
      *left.hole = std::move(*left.a++);
    }
    ++left.hole;
  }
}

// The room that sort_stably needs for n elements. Small ones are merged from both ends at once:
// each step of a merge waits for the one before, so two merges take the time of one.
template <class T>
constexpr std::size_t stable_room(std::size_t n) {
  return is_small_plain<T> ? n : n / 2;
}

// One thread's stable sort.
template <class Iterator, class T, class Less>
void sort_stably(Iterator v, std::iter_difference_t<Iterator> n, T* room, Less const& less) {
  quick_sorter<Iterator, Less> const few(less);
  if (n <= few.few) return few.sort_few(v, n);
  if (few.is_one_run(v, n)) return;
  auto const half = n / 2;
  sort_stably(v, half, room, less);
  sort_stably(v + half, n - half, room, less);
  if (!less(v[half], v[half - 1])) return;
  if constexpr (is_small_plain<T>) {
    std::uninitialized_copy(v, v + n, room);
    if (!few.merge_both_ways(room, n, v)) std::copy(room, room + n, v);
  } else {
    join_runs(v, half, n, room, less);
  }
}

// Joins the runs without any room: cuts both where they belong together, exchanges the inner parts
// and goes on with both halves (Dudzinski and Dydek 1981; std::inplace_merge without its buffer).
// O(n log n) comparisons and moves.
template <class Iterator, class Less>
void join_in_place(Iterator v, Iterator middle, Iterator end, Less const& less) {
  auto const na = middle - v, nb = end - middle;
  if (na == 0 || nb == 0 || !less(*middle, middle[-1])) return;
  if (na + nb == 2) return std::iter_swap(v, middle);
  bool const cut_a = na >= nb;
  auto const a = cut_a ? v + na / 2 : std::upper_bound(v, middle, middle[nb / 2], less);
  auto const b = cut_a ? std::lower_bound(middle, end, v[na / 2], less) : middle + nb / 2;
  auto const border = std::rotate(a, middle, b);
  auto const left = [&] { join_in_place(v, a, border, less); };
  auto const right = [&] { join_in_place(border, b, end, less); };
  if (static_cast<std::size_t>(na + nb) > least_merged) {
    nigh::fork_join(left, right);
  } else {
    left();
    right();
  }
}

// A stable sort without any room, O(n log² n).
template <class Iterator, class Less>
void sort_stably_in_place(Iterator v, std::iter_difference_t<Iterator> n, Less const& less) {
  quick_sorter<Iterator, Less> const few(less);
  if (n <= few.few) return few.sort_few(v, n);
  if (few.is_one_run(v, n)) return;
  auto const half = n / 2;
  auto const left = [&] { sort_stably_in_place(v, half, less); };
  auto const right = [&] { sort_stably_in_place(v + half, n - half, less); };
  if (static_cast<std::size_t>(n) > least_merged) {
    nigh::fork_join(left, right);
  } else {
    left();
    right();
  }
  join_in_place(v, v + half, v + n, less);
}

}  // namespace nigh::detail
