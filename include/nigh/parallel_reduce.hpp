// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_reduce: one value from all iterations of a loop.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <nigh/detail/loop.hpp>
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
        std::lock_guard const guard(lock_);
        if (!total_) {
          total_.emplace(std::move(mine));
          return;
        }
        other.emplace(std::move(*total_));
        total_.reset();
      }
      mine = combine_(std::move(*other), std::move(mine));
    }
  }
  std::optional<T>& total() noexcept { return total_; }

 private:
  Combine const& combine_;
  std::mutex lock_;
  std::optional<T> total_;
};

template <class Index, class T, class Body>
struct folded {
  Body const& shared;
  Index first;

  static constexpr bool by_index = std::is_invocable_v<Body const&, Index, T>;
  // Not evaluated for a body that takes an index: where it takes `auto`, even that may not compile.
  static constexpr bool by_range =
      std::conjunction_v<std::bool_constant<!by_index>,
                         std::is_invocable<Body const&, index_range, T>>;

  template <class Combine>
  T operator()(T value, index_range piece, Combine const& combine) const {
    body_at_hand<Body> body = shared;
    auto const from = static_cast<std::size_t>(first);
    if constexpr (by_range) {
      return body(index_range{from + piece.begin, from + piece.end}, std::move(value));
    } else {
      auto const end = static_cast<Index>(from + piece.end);
      for (auto i = static_cast<Index>(from + piece.begin); i != end; ++i) {
        if constexpr (by_index)
          value = body(i, std::move(value));
        else
          value = combine(std::move(value), body(i));
      }
      return value;
    }
  }
};

// Each thread folds all its pieces into one value.
template <class T, class Fold, class Combine>
T reduce_as_it_comes(loop_range range, loop_options const& options, T const& identity,
                     Fold const& fold, Combine const& combine) {
  struct work {
    Fold const& fold;
    Combine const& combine;
    T const& identity;
    shared_total<T, Combine> total;

    static void run(void* self, loop_part& part) {
      auto& me = *static_cast<work*>(self);
      index_range piece;
      if (!next_piece(part, piece)) return;
      T mine = me.identity;
      do {
        mine = me.fold(std::move(mine), piece, me.combine);
      } while (next_piece(part, piece));
      me.total.add(std::move(mine));
    }
  } all{fold, combine, identity, shared_total<T, Combine>(combine)};
  run_loop(range, options, {&all, &work::run});
  return all.total.total() ? std::move(*all.total.total()) : identity;
}

// Each block has a value of its own; neighbours are combined, then neighbours of those, and so on.
template <class T, class Fold, class Combine>
T reduce_in_order(loop_range range, loop_options options, T const& identity, Fold const& fold,
                  Combine const& combine) {
  auto const block = range.count / reduction_blocks + (range.count % reduction_blocks != 0);
  if (block == 0) return identity;
  options.grain = block;
  std::vector<unshared<T>> values(range.count / block + (range.count % block != 0),
                                  unshared<T>{identity});
  struct work {
    Fold const& fold;
    Combine const& combine;
    std::vector<unshared<T>>& values;
    std::size_t block;

    static void run(void* self, loop_part& part) {
      auto& me = *static_cast<work*>(self);
      for (index_range piece; next_piece(part, piece);)
        for (auto at = piece.begin; at < piece.end;) {
          auto const size = std::min(me.block, piece.end - at);
          T& value = me.values[at / me.block].value;
          value = me.fold(std::move(value), index_range{at, at + size}, me.combine);
          at += size;
        }
    }
  } all{fold, combine, values, block};
  run_loop(range, options, {&all, &work::run});
  for (std::size_t apart = 1; apart < values.size(); apart *= 2)
    for (std::size_t v = 0; v + apart < values.size(); v += 2 * apart)
      values[v].value = combine(std::move(values[v].value), std::move(values[v + apart].value));
  return std::move(values[0].value);
}

}  // namespace detail

// Folds [first, last) into one value, beginning with `identity` wherever a thread or block begins:
//
//   body(i, value) -> value          adds iteration i
//   body(index_range, value) -> value
//   body(i) -> value                 its value, added by combine
//
// and combine(value, value) -> value joins two partial results; it is associative, and unless
// options.order is reduction::deterministic, commutative. T is copied from the identity and moved.
// Deterministic reductions of floating-point numbers give the same result to the last bit on any
// number of workers with any schedule; they keep up to 512 values, on the heap.
//
// Otherwise as parallel_for(). Stopped early, it returns the value of the iterations that have run.
template <std::integral First, std::integral Last, class T, class Body, class Combine>
T parallel_reduce(First first, Last last, T identity, Body const& body, Combine const& combine,
                  reduce_options const& options = {}) {
  using index = std::common_type_t<First, Last>;
  auto const range = detail::loop_extent<index>(first, last);
  using fold = detail::folded<index, T, Body>;
  static_assert(std::disjunction_v<std::bool_constant<fold::by_index || fold::by_range>,
                                   std::is_invocable<Body const&, index>>,
                "a reduction's body takes (index, value), (nigh::index_range, value) or (index)");
  fold const folding{body, static_cast<index>(first)};
  return options.order == reduction::deterministic
             ? detail::reduce_in_order(range, options, identity, folding, combine)
             : detail::reduce_as_it_comes(range, options, identity, folding, combine);
}

template <std::integral First, std::integral Last, class T, class Body, class Combine>
T parallel_reduce(First first, Last last, T identity, Body const& body, Combine const& combine,
                  schedule const& how, reduction order = reduction::as_it_comes) {
  reduce_options options;
  options.how = how;
  options.order = order;
  return parallel_reduce(first, last, std::move(identity), body, combine, options);
}

}  // namespace nigh
