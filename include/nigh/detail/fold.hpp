// SPDX-License-Identifier: Apache-2.0
#pragma once
// Joining the partial results of a loop's threads: as they come, or in the order of the iterations.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/short_lock.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {

enum class reduction : std::uint8_t {
  as_it_comes,    // combined in the order in which threads finish
  deterministic,  // always the same order, whatever the number of workers and the schedule
};

// Those of all loops (loop_options.hpp says what they mean), and one more. Not derived from
// loop_options: designated initialisers name members of a struct, not of its bases.
struct reduce_options {
  std::optional<schedule> how = {};
  stop_token stop = {};
  runtime* where = nullptr;
  std::size_t grain = 0;
  team const* members = nullptr;
  reduction order = reduction::as_it_comes;

  operator loop_options() const { return {how, stop, where, grain, members}; }
};

namespace detail {

// Deterministic reductions have at most this many blocks; the iterations of a block depend only on
// the number of iterations.
inline constexpr std::size_t reduction_blocks = 512;

// A result that threads add theirs to. Combining happens outside the lock, since it may fork.
template <class T, class Combine>
class shared_total {
 public:
  explicit shared_total(Combine const& combine) : combine_(combine) {}

  void add(T mine) {
    for (;;) {
      std::optional<T> other;
      {
        short_lock::guard const guard(lock_);
        if (!total_) {
          total_.emplace(std::move(mine));
          return;
        }
        other.emplace(std::move(*total_));
        total_.reset();
      }
      mine = static_cast<T>(combine_(std::move(*other), std::move(mine)));
    }
  }
  std::optional<T>& total() noexcept { return total_; }

 private:
  Combine const& combine_;
  short_lock lock_;
  std::optional<T> total_;
};

// Neighbours are combined, then neighbours of those, and so on; the result is in values[0].
// join(left, right) leaves the result in left.
template <class Values, class Join>
void join_neighbours(Values& values, Join const& join) {
  for (std::size_t apart = 1; apart < values.size(); apart *= 2)
    for (std::size_t v = 0; v + apart < values.size(); v += 2 * apart)
      join(values[v].value, values[v + apart].value);
}

constexpr std::size_t block_of_reduction(std::size_t count) noexcept {
  return count / reduction_blocks + (count % reduction_blocks != 0);
}

// Joins piece(index_range) -> T of pieces that together are the range, as offsets. None, when there
// are none, or a stop came first. Needs no identity, and only moves T.
template <class T, class Piece, class Combine>
std::optional<T> combine_as_it_comes(loop_range range, loop_options const& options,
                                     Piece const& piece, Combine const& combine) {
  struct work {
    Piece const& piece;
    Combine const& combine;
    shared_total<T, Combine> total;

    static void run(void* self, loop_part& part) {
      auto& me = *static_cast<work*>(self);
      index_range r;
      if (!next_piece(part, r)) return;
      T mine = me.piece(r);
      while (next_piece(part, r)) mine = static_cast<T>(me.combine(std::move(mine), me.piece(r)));
      me.total.add(std::move(mine));
    }
  } all{piece, combine, shared_total<T, Combine>(combine)};
  run_loop(range, options, {&all, &work::run});
  return std::move(all.total.total());
}

template <class T, class Piece, class Combine>
std::optional<T> combine_in_order(loop_range range, loop_options options, Piece const& piece,
                                  Combine const& combine) {
  auto const count = range.count;
  if (count == 0) return {};
  auto const block = block_of_reduction(count);
  options.grain = block;
  std::vector<unshared<std::optional<T>>> values(count / block + (count % block != 0));
  struct work {
    Piece const& piece;
    std::vector<unshared<std::optional<T>>>& values;
    std::size_t block;

    static void run(void* self, loop_part& part) {
      auto& me = *static_cast<work*>(self);
      for (index_range r; next_piece(part, r);)
        for (auto at = r.begin; at < r.end; at += me.block)
          me.values[at / me.block].value.emplace(
              me.piece(index_range{at, me.block < r.end - at ? at + me.block : r.end}));
    }
  } all{piece, values, block};
  run_loop(range, options, {&all, &work::run});
  join_neighbours(values, [&](std::optional<T>& left, std::optional<T>& right) {
    if (left && right)
      *left = static_cast<T>(combine(std::move(*left), std::move(*right)));
    else if (right)
      left.swap(right);
  });
  return std::move(values[0].value);
}

template <class T, class Piece, class Combine>
std::optional<T> combine_pieces(loop_range range, reduce_options const& options, Piece const& piece,
                                Combine const& combine) {
  return options.order == reduction::deterministic
             ? combine_in_order<T>(range, options, piece, combine)
             : combine_as_it_comes<T>(range, options, piece, combine);
}

template <class T>
constexpr void needs_limits() {
  static_assert(std::numeric_limits<T>::is_specialized,
                "nigh::min and nigh::max of nothing are the limits of numbers: for another type, "
                "say where to begin, parallel_reduce(range, init, nigh::min), or use "
                "parallel_min_element");
}

// The words sum, product, min and max: each an operation, its result's type and its identity.
struct sum_word {
  using reduction_word = sum_word;
  template <class A, class B>
  constexpr auto operator()(A&& a, B&& b) const {
    return std::forward<A>(a) + std::forward<B>(b);
  }
  template <class T>
  static T identity() {
    return T();
  }
};
struct product_word {
  using reduction_word = product_word;
  template <class A, class B>
  constexpr auto operator()(A&& a, B&& b) const {
    return std::forward<A>(a) * std::forward<B>(b);
  }
  template <class T>
  static T identity() {
    return T(1);
  }
};
struct min_word {
  using reduction_word = min_word;
  template <class A, class B>
  constexpr std::common_type_t<A, B> operator()(A&& a, B&& b) const {
    if (b < a) return std::forward<B>(b);
    return std::forward<A>(a);
  }
  template <class T>
  static T identity() {
    needs_limits<T>();
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? limits::infinity() : limits::max();
  }
};
struct max_word {
  using reduction_word = max_word;
  template <class A, class B>
  constexpr std::common_type_t<A, B> operator()(A&& a, B&& b) const {
    if (a < b) return std::forward<B>(b);
    return std::forward<A>(a);
  }
  template <class T>
  static T identity() {
    needs_limits<T>();
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
  }
};

// Operations on numbers whose operands may be grouped as a vector unit likes: into lanes.
template <class Op>
inline constexpr bool is_known_operation = requires { typename Op::reduction_word; };
template <class T>
inline constexpr bool is_known_operation<std::plus<T>> = true;
template <class T>
inline constexpr bool is_known_operation<std::multiplies<T>> = true;
template <class T>
inline constexpr bool is_known_operation<std::bit_and<T>> = true;
template <class T>
inline constexpr bool is_known_operation<std::bit_or<T>> = true;
template <class T>
inline constexpr bool is_known_operation<std::bit_xor<T>> = true;

template <class T, class Op>
inline constexpr bool folds_in_lanes =
    std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && is_known_operation<Op>;

// Enough chains to hide the latency of an addition with the smallest vectors.
template <class T>
inline constexpr std::size_t lanes_of = 128 / sizeof(T) < 8 ? 8 : 128 / sizeof(T);

// The first value of a piece. A NaN on the left of a comparison would stay, whatever follows it.
template <class T, class Op, class Value>
constexpr T first_value(Op const& op, Value&& value) {
  constexpr bool compares = std::is_same_v<Op, min_word> || std::is_same_v<Op, max_word>;
  if constexpr (compares && std::is_floating_point_v<T>)
    return static_cast<T>(op(Op::template identity<T>(), static_cast<T>(value)));
  else
    return static_cast<T>(std::forward<Value>(value));
}

// get(i) op get(i + 1) op ... of a piece that is not empty.
template <class T, class Op, class Get>
T fold_piece(index_range r, Op const& op, Get const& get) {
  auto i = r.begin;
  if constexpr (folds_in_lanes<T, Op>) {
    constexpr std::size_t lanes = lanes_of<T>;
    if (r.size() >= 2 * lanes) {
      std::array<T, lanes> lane;
      for (std::size_t l = 0; l < lanes; ++l) lane[l] = first_value<T>(op, get(i + l));
      for (i += lanes; r.end - i >= lanes; i += lanes)
        for (std::size_t l = 0; l < lanes; ++l)
          lane[l] = static_cast<T>(op(lane[l], static_cast<T>(get(i + l))));
      for (auto half = lanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l)
          lane[l] = static_cast<T>(op(lane[l], lane[l + half]));
      T value = lane[0];
      for (; i < r.end; ++i) value = static_cast<T>(op(value, static_cast<T>(get(i))));
      return value;
    }
  }
  T value(first_value<T>(op, get(i)));
  for (++i; i < r.end; ++i) value = static_cast<T>(op(std::move(value), get(i)));
  return value;
}

// A floating-point number kept in an integer loses its fraction with each step.
template <class T, class Value>
inline constexpr bool truncates =
    std::is_floating_point_v<Value> && std::is_integral_v<T> && !std::is_same_v<T, bool>;
// An integer that is wider than the result and than what arithmetic promotes to.
template <class T, class Value>
inline constexpr bool overflows =
    std::is_integral_v<Value> && std::is_integral_v<T> && !std::is_same_v<T, bool> &&
    (sizeof(Value) > sizeof(T)) && (sizeof(Value) > sizeof(int));

template <class T, class Value>
constexpr void check_result() {
  static_assert(!truncates<T, std::remove_cvref_t<Value>>,
                "parallel_reduce: the values are floating-point numbers and the identity (init) is "
                "an integer, so each step would truncate: write it as 0.0, not 0");
  static_assert(!overflows<T, std::remove_cvref_t<Value>>,
                "parallel_reduce: the values are wider integers than the identity (init), so the "
                "result may not fit: write it as 0L or std::size_t{0}, not 0");
}

}  // namespace detail
}  // namespace nigh
