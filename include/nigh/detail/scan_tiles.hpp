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
#include <iterator>
#include <memory>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/quick_sort.hpp>
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
  // Four parts of a block advance side by side: one addition of doubles takes four cycles, and a
  // core begins two in each.
  static constexpr bool by_lanes = is_small_plain<T> && sizeof(T) <= 16;
  static constexpr std::size_t lanes = 4;
  static constexpr std::size_t lane = 128;
  static constexpr std::size_t block = lanes * lane;

 public:
  tile_scan(In in, Out out, T const& identity, Op const& op)
      : in_(in), out_(out), identity_(identity), op_(op) {}

  T identity() const {
    if constexpr (std::is_copy_constructible_v<T>)
      return identity_;
    else
      return op_(identity_, identity_);
  }
  T join(T const& before, T const& sum) const { return op_(before, sum); }

  // Of [first, last), not empty.
  T sum(std::size_t first, std::size_t last) const {
    if constexpr (by_lanes) {
      if (last - first < block) return fold(first, last);
      auto total = whole(sums(first));
      for (first += block; last - first >= block; first += block)
        total = op_(total, whole(sums(first)));
      return first < last ? T(op_(total, fold(first, last))) : total;
    } else {
      return fold(first, last);
    }
  }

  // Writes the results of [first, last), not empty. Returns `before` and all of them together.
  T scan(std::size_t first, std::size_t last, T const& before) const {
    if constexpr (by_lanes) {
      T value = before;
      for (; last - first >= block; first += block) value = scan_block(first, value, sums(first));
      return first < last ? scan_rest(first, last, value) : value;
    } else {
      return scan_rest(first, last, before);
    }
  }
  // Returns the sum as well.
  T scan_and_sum(std::size_t first, std::size_t last, T const& before) const {
    if constexpr (by_lanes) {
      if (last - first >= block) {
        T value = before;
        std::optional<T> total;
        for (; last - first >= block; first += block) {
          auto const all = sums(first);
          value = scan_block(first, value, all);
          total = total ? T(op_(*total, whole(all))) : whole(all);
        }
        if (first == last) return *total;
        auto const rest = fold(first, last);
        scan_rest(first, last, value);
        return op_(*total, rest);
      }
    }
    T total = fold(first, last);  // first: the results may lie in the elements' places
    scan_rest(first, last, before);
    return total;
  }

 private:
  decltype(auto) in(std::size_t i) const { return in_[static_cast<std::iter_difference_t<In>>(i)]; }
  decltype(auto) out(std::size_t i) const {
    return out_[static_cast<std::iter_difference_t<Out>>(i)];
  }

  T of(std::size_t i) const {
    if constexpr (std::is_convertible_v<std::iter_reference_t<In>, T>)
      return static_cast<T>(in(i));
    else
      return op_(identity_, in(i));
  }
  T fold(std::size_t first, std::size_t last) const {
    T total = of(first);
    for (auto i = first + 1; i < last; ++i) total = op_(std::move(total), in(i));
    return total;
  }

  std::array<T, lanes> sums(std::size_t at) const
    requires by_lanes
  {
    T a = of(at), b = of(at + lane), c = of(at + 2 * lane), d = of(at + 3 * lane);
    for (auto i = at + 1; i < at + lane; ++i) {
      a = op_(a, in(i));
      b = op_(b, in(i + lane));
      c = op_(c, in(i + 2 * lane));
      d = op_(d, in(i + 3 * lane));
    }
    return {a, b, c, d};
  }
  T whole(std::array<T, lanes> const& s) const
    requires by_lanes
  {
    return op_(op_(s[0], s[1]), op_(s[2], s[3]));
  }

  void step(T& value, std::size_t i) const {
    T next = op_(value, in(i));  // before the result may overwrite the element
    out(i) = Kind == scan_kind::inclusive ? next : value;
    value = std::move(next);
  }
  T scan_block(std::size_t at, T const& before, std::array<T, lanes> const& s) const
    requires by_lanes
  {
    T a = before, b = op_(a, s[0]), c = op_(b, s[1]), d = op_(c, s[2]);
    T const after = op_(d, s[3]);
    for (auto i = at; i < at + lane; ++i) {
      step(a, i);
      step(b, i + lane);
      step(c, i + 2 * lane);
      step(d, i + 3 * lane);
    }
    return after;
  }

  T scan_rest(std::size_t first, std::size_t last, T const& before) const {
    if constexpr (std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>) {
      T value = before;
      for (; first < last; ++first) {
        if constexpr (Kind == scan_kind::inclusive) {
          value = op_(std::move(value), in(first));
          out(first) = value;
        } else {
          T next = op_(value, in(first));
          out(first) = std::exchange(value, std::move(next));
        }
      }
      return value;
    } else if constexpr (Kind == scan_kind::inclusive) {
      out(first) = op_(before, in(first));
      for (++first; first < last; ++first)
        out(first) = op_(std::as_const(out(first - 1)), in(first));
      return op_(std::as_const(out(last - 1)), identity_);
    } else {
      // The value before this tile stays where it is: others read it. op makes another one.
      T next = op_(before, in(first));
      out(first) = op_(before, identity_);
      for (++first; first < last; ++first) {
        T following = op_(std::as_const(next), in(first));
        out(first) = std::exchange(next, std::move(following));
      }
      return next;
    }
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
    parallel_for(
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
  std::unique_ptr<one[]> tiles_;  // one more than there are: its value before is the result
};

}  // namespace nigh::detail
