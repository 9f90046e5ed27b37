// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scans of one thread, and how tiles of several threads are joined.
//
// A sequence is cut into tiles, which depend on its length alone. A tile has a sum (of its own
// elements) and a value before it (of all elements in front). Both passes over a tile's elements,
// one for the sum and one for the results, happen while it is in a core's cache, so that the whole
// sequence is read from memory once: Merrill and Garland's decoupled look-back (2016). Here no
// thread waits for another one: a thread whose tile has no value before it yet goes on with
// another.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/prefix_sums.hpp>
#include <nigh/detail/quick_sort.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/detail/tile_link.hpp>
#include <nigh/loop_options.hpp>
#include <nigh/parallel_for.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace nigh::detail {

enum class scan_kind : std::uint8_t { inclusive, exclusive };

// Sums and scans of one tile. All combine in the same way, whichever is called, so that a result
// does not depend on what other threads do.
template <scan_kind Kind, class In, class Out, class Op>
class tile_scan {
  using T = std::iter_value_t<Out>;
  // A tile's own prefix sums do not wait for the value before it, and one operation more for each
  // element costs less than to read it again.
  static constexpr bool at_once = is_small_plain<T> && sizeof(T) <= 16;

 public:
  static constexpr bool by_vectors = has_prefix_sums<In, Out, Op>;

  tile_scan(In in, Out out, T const& identity, Op const& op)
      : in_(in), out_(out), identity_(identity), op_(op) {}

  T identity() const {
    if constexpr (std::is_copy_constructible_v<T>)
      return identity_;
    else
      return combined(identity_, identity_);
  }
  T join(T const& before, T const& sum) const { return combined(before, sum); }

  // Of [first, last), not empty.
  T sum(std::size_t first, std::size_t last) const {
    if constexpr (by_vectors) {
      return prefix_sums<T>::sum(in_ + first, last - first);
    } else {
      T total = of(first);
      for (auto i = first + 1; i < last; ++i) total = combined(std::move(total), in(i));
      return total;
    }
  }

  // Writes the results of [first, last), not empty. Returns `before` and all of them together.
  T scan(std::size_t first, std::size_t last, T const& before) const {
    if constexpr (by_vectors || at_once)
      return combined(before, scan_and_sum(first, last, before));
    else
      return scan_alone(first, last, before);
  }
  // Returns the sum of all of them.
  T scan_and_sum(std::size_t first, std::size_t last, T const& before) const {
    if constexpr (by_vectors) {
      return prefix_sums<T>::template scan<Kind == scan_kind::exclusive>(in_ + first, out_ + first,
                                                                         last - first, before);
    } else if constexpr (at_once) {
      T total = of(first), previous = before;
      for (auto i = first;;) {
        T const now = combined(before, total);
        out(i) = Kind == scan_kind::inclusive ? now : previous;
        previous = now;
        if (++i == last) return total;
        total = combined(total, in(i));
      }
    } else {
      T total = sum(first, last);  // first: the results may lie in the elements' places
      scan_alone(first, last, before);
      return total;
    }
  }

  // The same as scan(), for all there is: added from left to right.
  T scan_alone(std::size_t first, std::size_t last, T const& before) const {
    if constexpr (by_vectors) {
      return scan(first, last, before);
    } else if constexpr (std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>) {
      T value = before;
      for (; first < last; ++first) {
        if constexpr (Kind == scan_kind::inclusive) {
          value = combined(std::move(value), in(first));
          out(first) = value;
        } else {
          T next = combined(value, in(first));
          out(first) = std::exchange(value, std::move(next));
        }
      }
      return value;
    } else if constexpr (Kind == scan_kind::inclusive) {
      out(first) = combined(before, in(first));
      for (++first; first < last; ++first)
        out(first) = combined(std::as_const(out(first - 1)), in(first));
      return combined(std::as_const(out(last - 1)), identity_);
    } else {
      // The value before this tile stays where it is: others read it. op makes another one.
      T next = combined(before, in(first));
      out(first) = combined(before, identity_);
      for (++first; first < last; ++first) {
        T following = combined(std::as_const(next), in(first));
        out(first) = std::exchange(next, std::move(following));
      }
      return next;
    }
  }

 private:
  // The elements may be of a kind whose sums are of a wider one.
  template <class A, class B>
  T combined(A&& a, B&& b) const {
    return static_cast<T>(op_(std::forward<A>(a), std::forward<B>(b)));
  }
  decltype(auto) in(std::size_t i) const { return in_[static_cast<std::iter_difference_t<In>>(i)]; }
  decltype(auto) out(std::size_t i) const {
    return out_[static_cast<std::iter_difference_t<Out>>(i)];
  }

  T of(std::size_t i) const {
    if constexpr (std::is_convertible_v<std::iter_reference_t<In>, T>)
      return static_cast<T>(in(i));
    else
      return combined(identity_, in(i));
  }

  In in_;
  Out out_;
  T const& identity_;
  Op const& op_;
};

// All tiles of a scan.
template <class Tile, class T>
class tiled_scan {
 public:
  tiled_scan(Tile const& tile, std::size_t n, std::size_t size)
      : tile_(tile), n_(n), size_(size), count_((n - 1) / size + 1), tiles_(new one[count_ + 1]) {}

  // The tiles go, in their order, to those who ask. The sum of all; nothing if stopped.
  std::optional<T> in_one_pass(loop_options options) {
    options.how = dynamic_schedule();
    options.grain = 0;
    tiles_[0].before.emplace(tile_.identity());
    tiles_[0].link.add_value();
    run_loop({0, count_}, options, {this, &run_part});
    return std::move(tiles_[count_].before);
  }

  // By the schedule in `options`: all sums, then all results. Reads memory twice.
  std::optional<T> in_two_passes(loop_options options) {
    options.grain = size_;
    each(options, [&](std::size_t t) { tiles_[t].sum.emplace(tile_.sum(begin(t), end(t))); });
    tiles_[0].before.emplace(tile_.identity());
    for (std::size_t t = 0; t < count_; ++t) {
      if (!tiles_[t].sum) return std::nullopt;
      tiles_[t + 1].before.emplace(tile_.join(*tiles_[t].before, *tiles_[t].sum));
    }
    each(options, [&](std::size_t t) { tile_.scan(begin(t), end(t), *tiles_[t].before); });
    return std::move(tiles_[count_].before);
  }

 private:
  struct alignas(64) one {
    std::optional<T> sum, before;
    tile_link link;
    bool handed_over = false;  // for the thread that passes on to it
  };

  // Tiles that a thread has summed up, and that lie in its cache.
  struct waiting {
    static constexpr std::size_t most = 4;
    std::array<std::size_t, most> tiles;
    std::size_t count = 0;
  };

  static void run_part(void* self, loop_part& part) {
    auto& me = *static_cast<tiled_scan*>(self);
    waiting mine;
    for (index_range piece; next_piece(part, piece);)
      for (auto t = piece.begin; t < piece.end; ++t) {
        me.take(t, mine);
        me.scan_known(mine);
      }
    for (std::size_t w = 0; w < mine.count; ++w) me.hand_over(mine.tiles[w]);
  }

  void take(std::size_t t, waiting& mine) {
    auto& tile = tiles_[t];
    if (tile.link.is_known()) {
      tile.sum.emplace(tile_.scan_and_sum(begin(t), end(t), *tile.before));
      return pass_on(t);
    }
    tile.sum.emplace(tile_.sum(begin(t), end(t)));
    if (tile.link.add_sum()) {
      pass_on(t);
      tile_.scan(begin(t), end(t), *tile.before);
      return;
    }
    if (mine.count == waiting::most) {
      hand_over(mine.tiles[0]);
      std::copy(mine.tiles.begin() + 1, mine.tiles.end(), mine.tiles.begin());
      --mine.count;
    }
    mine.tiles[mine.count++] = t;
  }

  // In the thread that knows both of tile t.
  void pass_on(std::size_t t) {
    auto const first = t + 1;
    for (bool more = true; more; ++t) {
      auto& next = tiles_[t + 1];
      next.before.emplace(tile_.join(*tiles_[t].before, *tiles_[t].sum));
      auto const found = next.link.add_value();
      more = found != tile_link::found::nothing;
      if (found == tile_link::found::handed_over) next.handed_over = true;
    }
    for (auto scanned = first; scanned < t; ++scanned)
      if (tiles_[scanned].handed_over)
        tile_.scan(begin(scanned), end(scanned), *tiles_[scanned].before);
  }

  void scan_known(waiting& mine) {
    std::size_t kept = 0;
    for (std::size_t w = 0; w < mine.count; ++w) {
      auto const t = mine.tiles[w];
      if (tiles_[t].link.is_known())
        tile_.scan(begin(t), end(t), *tiles_[t].before);
      else
        mine.tiles[kept++] = t;
    }
    mine.count = kept;
  }
  void hand_over(std::size_t t) {
    if (tiles_[t].link.hand_over()) tile_.scan(begin(t), end(t), *tiles_[t].before);
  }

  template <class F>
  void each(loop_options const& options, F const& f) const {
    nigh::parallel_for(
        std::size_t{0}, n_,
        [&](index_range r) {
          for (auto at = r.begin; at < r.end; at += size_) f(at / size_);
        },
        options);
  }

  std::size_t begin(std::size_t t) const { return t * size_; }
  std::size_t end(std::size_t t) const { return std::min(n_, (t + 1) * size_); }

  Tile const& tile_;
  std::size_t n_, size_, count_;
  owned<one[]> tiles_;  // one more than there are: its value before is the result
};

}  // namespace nigh::detail
