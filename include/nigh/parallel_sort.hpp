// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_sort, parallel_stable_sort: merge sorts whose merges are parallel, too.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <type_traits>
#include <utility>

namespace nigh {
namespace detail {

inline constexpr std::size_t least_sorted = 8192;   // less is sorted by one thread
inline constexpr std::size_t least_merged = 16384;  // less is merged by one

// A second place for each element. All elements are moved there and back, so that at any time both
// places hold objects, even when a comparison throws.
template <class T>
class sort_buffer {
 public:
  template <class Iterator>
  sort_buffer(Iterator first, std::size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))))),
        count_(count) {
    try {
      fill_from(first);
    } catch (...) {
      free();
      throw;
    }
  }
  ~sort_buffer() {
    std::destroy_n(data_, count_);
    free();
  }
  sort_buffer(sort_buffer&&) = delete;
  sort_buffer& operator=(sort_buffer&&) = delete;
  T* data() const noexcept { return data_; }

 private:
  template <class Iterator>
  void fill_from(Iterator first) {
    if constexpr (std::is_nothrow_move_constructible_v<T>)
      parallel_for(std::size_t{0}, count_, [this, first](std::size_t i) {
        ::new (static_cast<void*>(data_ + i))
            T(std::move(first[static_cast<std::iter_difference_t<Iterator>>(i)]));
      });
    else
      std::uninitialized_copy_n(first, count_, data_);
  }
  void free() noexcept { ::operator delete(data_, std::align_val_t(alignof(T))); }

  T* data_;
  std::size_t count_;
};

// Merges [a, a_end) and [b, b_end) to `out`; of equal elements, those of a come first.
template <class From, class To, class Less>
void merge_to(From a, From a_end, From b, From b_end, To out, Less const& less) {
  auto const na = a_end - a, nb = b_end - b;
  if (static_cast<std::size_t>(na + nb) <= least_merged) {
    std::merge(std::make_move_iterator(a), std::make_move_iterator(a_end),
               std::make_move_iterator(b), std::make_move_iterator(b_end), out,
               [&less](auto const& x, auto const& y) { return less(x, y); });
    return;
  }
  From const a_mid = na >= nb ? a + na / 2 : std::upper_bound(a, a_end, b[nb / 2], less);
  From const b_mid = na >= nb ? std::lower_bound(b, b_end, a[na / 2], less) : b + nb / 2;
  To const out_mid = out + ((a_mid - a) + (b_mid - b));
  fork_join([&] { merge_to(a, a_mid, b, b_mid, out, less); },
            [&] { merge_to(a_mid, a_end, b_mid, b_end, out_mid, less); });
}

enum class lands : std::uint8_t { here, there };

// Sorts the elements in [here, here + n) of one place to the same or to the other one.
template <bool Stable, class Here, class There, class Less>
void merge_sort(Here here, There there, std::size_t n, std::size_t leaf, lands where,
                Less const& less) {
  using here_step = std::iter_difference_t<Here>;
  using there_step = std::iter_difference_t<There>;
  auto const here_at = [&](std::size_t i) { return here + static_cast<here_step>(i); };
  auto const there_at = [&](std::size_t i) { return there + static_cast<there_step>(i); };
  if (n <= leaf) {
    if constexpr (Stable)
      std::stable_sort(here, here_at(n), less);
    else
      std::sort(here, here_at(n), less);
    if (where == lands::there) std::move(here, here_at(n), there);
    return;
  }
  auto const half = n / 2;
  auto const other = where == lands::here ? lands::there : lands::here;
  fork_join(
      [&] { merge_sort<Stable>(here, there, half, leaf, other, less); },
      [&] { merge_sort<Stable>(here_at(half), there_at(half), n - half, leaf, other, less); });
  if (where == lands::here)
    merge_to(there, there_at(half), there_at(half), there_at(n), here, less);
  else
    merge_to(here, here_at(half), here_at(half), here_at(n), there, less);
}

template <bool Stable, class Iterator, class Less>
void sort_with(Iterator first, Iterator last, Less const& less, runtime* where) {
  static_assert(std::is_lvalue_reference_v<std::iter_reference_t<Iterator>>,
                "a parallel sort's elements are objects, not bits of a vector<bool>");
  auto const n = static_cast<std::size_t>(last - first);
  if (n <= least_sorted) {
    if constexpr (Stable)
      std::stable_sort(first, last, less);
    else
      std::sort(first, last, less);
    return;
  }
  auto const leaf = std::max(least_sorted / 2, n / (8 * workers_for_loops(where)));
  auto const sort = [&](int) {
    using value = std::iter_value_t<Iterator>;
    sort_buffer<value> const buffer(first, n);
    merge_sort<Stable>(buffer.data(), first, n, leaf, lands::there, less);
  };
  loop_options options;
  options.where = where;
  parallel_for(0, 1, sort, options);  // forks in there belong to that runtime
}

}  // namespace detail

// Sorts [first, last), random access, with the workers of `where` (null: the calling worker's
// runtime, otherwise the default one). Takes a buffer of as many elements. The elements are moved,
// and several threads compare them at once. When a comparison throws, the exception is rethrown,
// and the elements are valid but unspecified. std::bad_alloc before anything is moved.
template <std::random_access_iterator Iterator, class Less = std::less<>>
void parallel_sort(Iterator first, Iterator last, Less const& less = {}, runtime* where = nullptr) {
  detail::sort_with<false>(first, last, less, where);
}
// The same; equal elements keep their order.
template <std::random_access_iterator Iterator, class Less = std::less<>>
void parallel_stable_sort(Iterator first, Iterator last, Less const& less = {},
                          runtime* where = nullptr) {
  detail::sort_with<true>(first, last, less, where);
}

}  // namespace nigh
