// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parallel sort of elements that are compared: buckets by a sample, and one thread's sort of
// each bucket in its cache.
//
// Sources: super scalar sample sort by Sanders and Winkel (ESA'04); the buckets of elements that
// equal a splitter are those of IPS4o by Axtmann, Witt, Ferizovic and Sanders (2022).
//
//   1. a sorted sample gives up to 255 splitters, a search tree
//   2. each chunk: the bucket of each element is written down, and counted
//   3. each chunk: elements move to their buckets in a second place, in their order
//   4. each bucket moves back and is sorted; a large one is divided again
//
// Comparisons happen in steps 1, 2 and after a bucket has moved back, so an exception from one
// leaves all elements in the range. Needs moves that do not throw.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <nigh/array.hpp>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/in_place_sort.hpp>
#include <nigh/detail/key_sort.hpp>
#include <nigh/detail/merge_sort.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/parallel_for.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace nigh::detail {

// Up to 2^8 - 1 splitters, and for each element the number of splitters that are not greater.
template <class T, class Less>
class splitter_tree {
  static constexpr bool copied = is_small_plain<T>;
  using node = std::conditional_t<copied, T, T const*>;

 public:
  static constexpr std::size_t most = 256;

  // `sorted`: `count` pointers to elements that stay in their places, in their order.
  splitter_tree(T const* const* sorted, std::size_t count, std::size_t buckets, Less const& less)
      : less_(less) {
    std::array<T const*, most> splitters;
    std::size_t n = 0;
    for (std::size_t b = 1; b < buckets; ++b) {
      auto const* const next = sorted[b * count / buckets];
      if (n == 0 || less(*splitters[n - 1], *next)) splitters[n++] = next;
    }
    equal_ = n + 1 < buckets;  // some element fills a bucket by itself
    leaves_ = std::bit_ceil(n + 1);
    for (auto k = n; k + 1 < leaves_; ++k) splitters[k] = splitters[n - 1];
    fill(splitters.data(), 1, 0, leaves_ - 1);
  }

  // Bucket 2 i holds elements between two splitters, 2 i - 1 those that equal splitter i - 1.
  std::size_t buckets() const { return 2 * leaves_; }
  bool all_equal(std::size_t bucket) const { return bucket % 2 != 0; }

  std::uint16_t bucket(T const& x) const {
    std::size_t i = 1;
    while (i < leaves_) i = 2 * i + !less_(x, at(i));
    auto const rank = i - leaves_;
    if (!equal_ || rank == 0) return static_cast<std::uint16_t>(2 * rank);
    return static_cast<std::uint16_t>(2 * rank - !less_(splitter(rank - 1), x));
  }

 private:
  T const& at(std::size_t i) const {
    if constexpr (copied)
      return *std::launder(reinterpret_cast<T const*>(&tree_[i]));
    else
      return *tree_[i];
  }
  T const& splitter(std::size_t rank) const { return at(place_[rank]); }

  void fill(T const* const* from, std::size_t i, std::size_t first, std::size_t last) {
    if (first >= last) return;
    auto const middle = first + (last - first) / 2;
    if constexpr (copied)
      ::new (static_cast<void*>(&tree_[i])) T(*from[middle]);
    else
      tree_[i] = from[middle];
    place_[middle] = static_cast<std::uint16_t>(i);
    fill(from, 2 * i, first, middle);
    fill(from, 2 * i + 1, middle + 1, last);
  }

  struct alignas(node) raw_node {
    std::byte bytes[sizeof(node)];
  };
  Less const& less_;
  std::size_t leaves_ = 1;
  bool equal_ = false;
  std::array<std::conditional_t<copied, raw_node, node>, most> tree_;
  std::array<std::uint16_t, most> place_{};  // in the tree, of each splitter
};

template <bool Stable, class Iterator, class Less>
class sample_sorter {
  using T = std::iter_value_t<Iterator>;
  using index = std::iter_difference_t<Iterator>;
  using tree = splitter_tree<T, Less>;

 public:
  // False, and nothing done, when there is no memory. `placed`: the array in which v lies, or null.
  static bool sort(Iterator v, std::size_t n, Less const& less, placed_block const* placed) {
    sample_sorter sorter(v, n, less, placed);
    owned<std::uint16_t[]> const buckets(new (std::nothrow) std::uint16_t[n]);
    if (!buckets) return false;
    if (!sorter.near_) {
      raw_room<T> const room(n);
      return room.data() != nullptr && sorter.sort_part({v, room.data(), buckets.get(), n}, levels);
    }
    placed_block room;
    try {
      room = placed_like(*placed, sizeof(T));
    } catch (std::bad_alloc const&) {
      return false;
    }
    return sorter.sort_part({v, reinterpret_cast<T*>(room.data()), buckets.get(), n}, levels);
  }

 private:
  static constexpr int levels = 4;
  static constexpr std::size_t sampled = 16;  // for each bucket
  // So many take 256 KiB: a bucket fits in a core's second-level cache with its second place.
  static constexpr std::size_t in_cache = std::max<std::size_t>((256 << 10) / sizeof(T), 512);

  struct part {
    Iterator v;
    T* room;
    std::uint16_t* bucket_of;
    std::size_t count;
  };

  sample_sorter(Iterator v, std::size_t n, Less const& less, placed_block const* placed)
      : v_(v), n_(n), less_(less) {
    if (placed != nullptr)
      if (auto map = map_of(*placed, sizeof(T)))
        near_.emplace(schedule_kind::local, std::size_t{1}, std::move(map));
  }

  template <class F>
  void each(std::size_t n, std::size_t grain, F const& f) const {
    loop_options options;
    options.grain = grain;
    if (n == n_) options.how = near_;
    nigh::parallel_for(std::size_t{0}, n, [&f](index_range r) { f(r.begin, r.end); }, options);
  }
  template <class F>
  void each_chunk(std::size_t n, std::size_t grain, F const& f) const {
    each(n, grain, [&](std::size_t first, std::size_t last) {
      for (; first < last; first += grain) f(first, std::min(last, first + grain));
    });
  }

  // False, and nothing done, when there is no memory.
  bool sort_part(part const& p, int levels_left) const {
    auto const workers = workers_for_loops(nullptr);
    auto const wanted = std::clamp(std::bit_ceil(std::max(p.count / in_cache + 1, 4 * workers)),
                                   std::size_t{2}, tree::most);
    auto const buckets =
        std::max<std::size_t>(2, std::min(wanted, std::bit_floor(p.count / (4 * sampled))));
    auto const grain = std::max(in_cache, p.count / (16 * workers) + 1);
    auto const chunks = (p.count - 1) / grain + 1;
    auto const rows = 2 * tree::most;
    owned<std::size_t[]> const counts(new (std::nothrow) std::size_t[chunks * rows]());
    owned<tree> const splitters(tree_of(p, buckets));
    if (!counts || !splitters) return false;

    each_chunk(p.count, grain, [&](std::size_t first, std::size_t last) {
      auto* const mine = counts.get() + first / grain * rows;
      for (auto i = first; i < last; ++i)
        ++mine[p.bucket_of[i] = splitters->bucket(p.v[static_cast<index>(i)])];
    });
    std::array<std::size_t, 2 * tree::most + 1> begin{};
    std::size_t at = 0;
    for (std::size_t b = 0; b < splitters->buckets(); ++b) {
      begin[b] = at;
      for (std::size_t c = 0; c < chunks; ++c) at += std::exchange(counts[c * rows + b], at);
    }
    begin[splitters->buckets()] = at;
    each_chunk(p.count, grain, [&](std::size_t first, std::size_t last) {
      auto* const mine = counts.get() + first / grain * rows;
      for (auto i = first; i < last; ++i)
        ::new (static_cast<void*>(p.room + mine[p.bucket_of[i]]++))
            T(std::move(p.v[static_cast<index>(i)]));
    });

    first_exception failure;
    auto const finish = [&](std::size_t b) {
      auto const first = begin[b], count = begin[b + 1] - first;
      if (count == 0) return;
      part const mine{p.v + static_cast<index>(first), p.room + first, p.bucket_of + first, count};
      std::move(mine.room, mine.room + count, mine.v);
      std::destroy_n(mine.room, count);
      if (splitters->all_equal(b) || failure.is_there()) return;
      try {
        sort_bucket(mine, levels_left - 1);
      } catch (...) {
        failure.keep();
      }
    };
    if (!near_ || p.count != n_) {
      nigh::parallel_for(std::size_t{0}, splitters->buckets(), finish, dynamic_schedule());
    } else {  // each bucket near its place
      try {
        each(p.count, page_of_elements(sizeof(T)), [&](std::size_t first, std::size_t last) {
          auto* const end = begin.data() + splitters->buckets();
          for (auto* b = std::lower_bound(begin.data(), end, first); b != end && *b < last; ++b)
            finish(static_cast<std::size_t>(b - begin.data()));
        });
      } catch (std::bad_alloc const&) {  // before the loop began
        nigh::parallel_for(std::size_t{0}, splitters->buckets(), finish, dynamic_schedule());
      }
    }
    failure.rethrow();
    return true;
  }

  void sort_bucket(part const& p, int levels_left) const {
    if (p.count > 4 * in_cache && levels_left > 0 && sort_part(p, levels_left)) return;
    auto const n = static_cast<index>(p.count);
    if constexpr (Stable)
      sort_stably(p.v, n, p.room, less_);
    else
      quick_sorter<Iterator, Less>(less_).sort(p.v, n);
  }

  // Null: there is no memory.
  tree* tree_of(part const& p, std::size_t buckets) const {
    auto const count = buckets * sampled;
    owned<T const*[]> const sample(new (std::nothrow) T const*[count]);
    if (!sample) return nullptr;
    std::uint64_t random = 0x9e3779b97f4a7c15u ^ p.count;
    auto const stride = p.count / count;  // one of each stride, so that it is spread evenly
    for (std::size_t i = 0; i < count; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      sample[i] = __builtin_addressof(p.v[static_cast<index>(i * stride + (random >> 33) % stride)]);
    }
    auto const less = [this](T const* a, T const* b) { return less_(*a, *b); };
    quick_sorter<T const**, decltype(less)>(less).sort(sample.get(),
                                                       static_cast<std::ptrdiff_t>(count));
    return new (std::nothrow) tree(sample.get(), count, buckets, less_);
  }

  class first_exception {
   public:
    bool is_there() const noexcept { return taken_.load(sync::relaxed); }
    void keep() noexcept {
      if (!taken_.exchange(true, sync::relaxed)) kept_ = std::current_exception();
    }
    void rethrow() const {  // after the loop, whose end orders it
      if (kept_) std::rethrow_exception(kept_);
    }

   private:
    sync::atomic<bool> taken_{false};
    std::exception_ptr kept_;
  };

  Iterator v_;
  std::size_t n_;
  Less const& less_;
  std::optional<schedule> near_;
};

}  // namespace nigh::detail
