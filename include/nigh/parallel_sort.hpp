// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_sort, parallel_stable_sort, and both by key: sorts of ranges by all workers.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
#include <nigh/array.hpp>
#include <nigh/detail/in_place_sort.hpp>
#include <nigh/detail/key_sort.hpp>
#include <nigh/detail/merge_sort.hpp>
#include <nigh/detail/quick_sort.hpp>
#include <nigh/detail/sample_sort.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/parallel_for.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace nigh {
namespace detail {

template <class Iterator, class Less>
void sort_one_thread(Iterator v, std::size_t n, Less const& less) {
  quick_sorter<Iterator, Less>(less).sort(v, static_cast<std::iter_difference_t<Iterator>>(n));
}

// Whether the elements are in order now: they were, or lay the other way round and have been turned.
// Most often the first ones tell that they are not.
template <bool Stable, class Iterator, class Less>
bool are_one_run(Iterator v, std::size_t n, Less const& less) {
  using T = std::iter_value_t<Iterator>;
  using index = std::iter_difference_t<Iterator>;
  auto const each = [](std::size_t count, std::size_t grain, auto const& f) {
    loop_options options;
    options.grain = grain;
    nigh::parallel_for(std::size_t{0}, count, [&f](index_range r) { f(r.begin, r.end); }, options);
  };
  auto const all_neighbours = [&](auto const& hold) {
    return holds_throughout(n, 1024, each, [&](std::size_t first, std::size_t last) {
      while (first < last && hold(v[static_cast<index>(first - 1)], v[static_cast<index>(first)]))
        ++first;
      return first == last;
    });
  };
  if (all_neighbours([&](T const& a, T const& b) { return !less(b, a); })) return true;
  // Turned, equal elements change places.
  if (!all_neighbours([&](T const& a, T const& b) { return Stable ? less(b, a) : !less(a, b); }))
    return false;
  each(n / 2, 1024, [&](std::size_t first, std::size_t last) {
    for (; first < last; ++first)
      std::iter_swap(v + static_cast<index>(first), v + static_cast<index>(n - 1 - first));
  });
  return true;
}

template <bool Stable, class Iterator, class Less>
void sort_elements(Iterator v, std::size_t n, Less const& less, placed_block const* placed) {
  using T = std::iter_value_t<Iterator>;
  auto const count = static_cast<std::iter_difference_t<Iterator>>(n);
  auto const alone = n <= least_sorted || workers_for_loops(nullptr) < 2;
  if (!Stable && alone) return sort_one_thread(v, n, less);
  if constexpr (moves_safely<T>) {
    if (Stable && alone) {
      raw_room<T> const room(stable_room<T>(n));
      if (room.data() != nullptr) return sort_stably(v, count, room.data(), less);
    } else if (are_one_run<Stable>(v, n, less) ||
               sample_sorter<Stable, Iterator, Less>::sort(v, n, less, placed)) {
      return;
    }
  }
  if constexpr (Stable)
    sort_stably_in_place(v, count, less);
  else
    sort_in_place(v, count, less);
}

template <bool Stable, class Iterator, class Less>
void sort_with(Iterator first, Iterator last, Less const& less, runtime* where,
               placed_block const* placed = nullptr) {
  using T = std::iter_value_t<Iterator>;
  static_assert(std::is_lvalue_reference_v<std::iter_reference_t<Iterator>>,
                "a parallel sort's elements are objects, not bits of a vector<bool>");
  static_assert(std::is_same_v<std::iter_reference_t<Iterator>, T&>,
                "a parallel sort changes its range: the elements must not be const");
  static_assert(std::is_invocable_r_v<bool, Less const&, T const&, T const&>,
                "a parallel sort's comparison takes two elements as const, returns bool, and is "
                "called as const");
  auto const n = detail::length_of(first, last);
  if (n < 2) return;
  if constexpr (std::contiguous_iterator<Iterator>) {
    auto* const data = std::to_address(first);
    if constexpr (is_sorted_by_bits<T, Less> && !(Stable && std::is_floating_point_v<T>))
      return sort_keys(data, n, key_order_of<T, Less>(), where, placed);
    else if (n <= least_sorted)
      return sort_elements<Stable>(data, n, less, placed);
    else
      return run_in(where, [&] { sort_elements<Stable>(data, n, less, placed); });
  } else {
    if (n <= least_sorted) return sort_elements<Stable>(first, n, less, placed);
    run_in(where, [&] { sort_elements<Stable>(first, n, less, placed); });
  }
}

template <class T>
placed_block const* placement_of(array<T> const& a) noexcept {
  return &a.placed();
}
template <class Range>
placed_block const* placement_of(Range const&) noexcept {
  return nullptr;
}

template <class Range>
concept sortable = std::ranges::random_access_range<Range> && std::ranges::sized_range<Range>;

// A key beside its value, while they are sorted.
template <class Key, class Value>
struct keyed {
  Key key;
  Value value;
};

template <bool Stable, class Keys, class Values, class Less>
void sort_by_key(Keys keys, Values values, std::size_t n, Less const& less, runtime* where) {
  using K = std::iter_value_t<Keys>;
  using V = std::iter_value_t<Values>;
  static_assert(moves_safely<K> && moves_safely<V>,
                "a sort by key moves keys and values to a buffer, so their moves must be noexcept");
  static_assert(!shares_bytes<std::iter_reference_t<Keys>> &&
                    !shares_bytes<std::iter_reference_t<Values>>,
                "elements of a std::vector<bool> share bytes, so threads cannot write to them at "
                "the same time: use a vector of char");
  static_assert(std::is_invocable_r_v<bool, Less const&, K const&, K const&>,
                "a sort by key's comparison takes two keys as const, returns bool, and is called "
                "as const");
  using both = keyed<K, V>;
  raw_room<both> const room(n);
  if (room.data() == nullptr) throw std::bad_alloc();
  loop_options options;
  options.where = where;
  options.grain = least_sorted;
  auto const each = [&](auto const& f) {
    nigh::parallel_for(
        std::size_t{0}, n,
        [&](index_range r) {
          for (auto i = r.begin; i < r.end; ++i)
            f(room.data() + i, keys[static_cast<std::iter_difference_t<Keys>>(i)],
              values[static_cast<std::iter_difference_t<Values>>(i)]);
        },
        options);
  };
  struct back {
    decltype(each)& each_;
    ~back() {  // also when a comparison throws
      each_([](both* from, auto&& key, auto&& value) {
        key = std::move(from->key);
        value = std::move(from->value);
        from->~both();
      });
    }
  };
  each([](both* to, auto&& key, auto&& value) {
    ::new (static_cast<void*>(to)) both{std::move(key), std::move(value)};
  });
  back const moved{each};
  sort_with<Stable>(
      room.data(), room.data() + n,
      [&less](both const& a, both const& b) { return less(a.key, b.key); }, where);
}

inline void check_lengths(std::size_t keys, std::size_t values) {
  if (keys != values)
    throw std::invalid_argument("a sort of " + std::to_string(keys) + " keys with " +
                                std::to_string(values) + " values");
}

}  // namespace detail

// Sorts [first, last), random access, or a range: a vector, a span, an array. `less(a, b)`, as for
// std::sort, is called by several threads at once; the workers of `where` (null: the calling
// worker's runtime, otherwise the default one) take part, and the caller. Equal elements may change
// places. O(n log n) comparisons at worst.
//
// Numbers of 1, 2, 4 or 8 bytes in contiguous memory, by std::less or std::greater (the default and
// those of std::ranges, too), are sorted by their bits: -0.0 comes before 0.0; a NaN comes after
// infinity, with its sign bit set before -infinity (std::greater: all the other way round).
// Other elements are compared. Where the order contradicts itself (a NaN under a function of the
// caller's), the result is in some order, and holds the elements that were there.
//
// Memory: a buffer as large as the range, and 2 bytes an element if they are compared. With no
// memory for it, with one worker, up to 4096 elements, or with a move that may throw, compared
// elements are sorted in place, by a parallel quicksort; so are numbers without memory. One-byte
// numbers from 1024 elements on and two-byte numbers from 262,144 on need a table of counts only.
// Loops on more than 32 workers take a few KiB, and are one thread's without. The map of an array over
// several domains takes memory, too: std::bad_alloc without, and elements are unspecified then.
//
// When `less` throws, one such exception is rethrown, and the range holds the elements that it
// held, in some order. A move that throws leaves valid elements.
//
// An array (nigh/array.hpp) over several domains is sorted near its data: threads take what lies in
// their own domain first, and the buffer is placed as the array is.
template <std::random_access_iterator Iterator, class Less = std::less<>>
void parallel_sort(Iterator first, Iterator last, Less const& less = {}, runtime* where = nullptr) {
  detail::sort_with<false>(first, last, less, where);
}
template <detail::sortable Range, class Less = std::less<>>
void parallel_sort(Range&& range, Less const& less = {}, runtime* where = nullptr) {
  auto const first = std::ranges::begin(range);
  detail::sort_with<false>(first, first + std::ranges::ssize(range), less, where,
                           detail::placement_of(range));
}

// The same; equal elements keep their order, 0.0 and -0.0 among them. Integers by std::less or
// std::greater are sorted as by parallel_sort; others take, without memory for the buffer or with a
// move that may throw, O(n log² n) comparisons and moves in place. One worker's buffer is half as
// large for elements that are not plain data.
template <std::random_access_iterator Iterator, class Less = std::less<>>
void parallel_stable_sort(Iterator first, Iterator last, Less const& less = {},
                          runtime* where = nullptr) {
  detail::sort_with<true>(first, last, less, where);
}
template <detail::sortable Range, class Less = std::less<>>
void parallel_stable_sort(Range&& range, Less const& less = {}, runtime* where = nullptr) {
  auto const first = std::ranges::begin(range);
  detail::sort_with<true>(first, first + std::ranges::ssize(range), less, where,
                          detail::placement_of(range));
}

// Sorts keys, and brings values[i] to where keys[i] goes. Keys and values are moved side by side
// into a buffer, sorted there by comparisons, and moved back: so a second buffer of that size is
// taken if there is memory for it. Equal keys may change places, unless it is the stable one.
// std::bad_alloc before anything has moved; otherwise as parallel_sort. Ranges of different
// lengths: std::invalid_argument.
template <std::random_access_iterator Keys, std::random_access_iterator Values,
          class Less = std::less<>>
void parallel_sort_by_key(Keys first, Keys last, Values values, Less const& less = {},
                          runtime* where = nullptr) {
  detail::sort_by_key<false>(first, values, detail::length_of(first, last), less, where);
}
template <detail::sortable Keys, detail::sortable Values, class Less = std::less<>>
void parallel_sort_by_key(Keys&& keys, Values&& values, Less const& less = {},
                          runtime* where = nullptr) {
  detail::check_lengths(std::ranges::size(keys), std::ranges::size(values));
  detail::sort_by_key<false>(std::ranges::begin(keys), std::ranges::begin(values),
                             std::ranges::size(keys), less, where);
}
template <std::random_access_iterator Keys, std::random_access_iterator Values,
          class Less = std::less<>>
void parallel_stable_sort_by_key(Keys first, Keys last, Values values, Less const& less = {},
                                 runtime* where = nullptr) {
  detail::sort_by_key<true>(first, values, detail::length_of(first, last), less, where);
}
template <detail::sortable Keys, detail::sortable Values, class Less = std::less<>>
void parallel_stable_sort_by_key(Keys&& keys, Values&& values, Less const& less = {},
                                 runtime* where = nullptr) {
  detail::check_lengths(std::ranges::size(keys), std::ranges::size(values));
  detail::sort_by_key<true>(std::ranges::begin(keys), std::ranges::begin(values),
                            std::ranges::size(keys), less, where);
}

}  // namespace nigh
