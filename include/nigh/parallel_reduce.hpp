// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_reduce, parallel_transform_reduce: one value from all iterations of a loop, or from all
// elements of a range.

#include <nigh/detail/cxx20.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <nigh/detail/fold.hpp>
#include <nigh/detail/sequence.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {
namespace detail {

template <class Index, class T, class Body>
struct folded {
  Body const& shared;
  Index first;

  static constexpr bool by_index = std::is_invocable_v<Body const&, Index, T>;
  // Not evaluated for a body that takes an index: where it takes `auto`, even that may not compile.
  static constexpr bool by_range =
      std::conjunction_v<std::bool_constant<!by_index>,
                         std::is_invocable<Body const&, index_range, T>>;
  static constexpr bool by_value = !by_index && !by_range;

  static constexpr void check() {
    static_assert(std::disjunction_v<std::bool_constant<by_index || by_range>,
                                     std::is_invocable<Body const&, Index>>,
                  "a reduction's body takes (index, value), (nigh::index_range, value) or (index), "
                  "and is called as const");
    if constexpr (by_index)
      check_result<T, std::invoke_result_t<Body const&, Index, T>>();
    else if constexpr (by_range)
      check_result<T, std::invoke_result_t<Body const&, index_range, T>>();
    else if constexpr (std::is_invocable_v<Body const&, Index>)
      check_result<T, std::invoke_result_t<Body const&, Index>>();
  }

  Index index(std::size_t offset) const {
    return static_cast<Index>(static_cast<std::size_t>(first) + offset);
  }

  template <class Combine>
  T operator()(T value, index_range piece, Combine const& combine) const {
    body_at_hand<Body> body = shared;
    if constexpr (by_range) {
      auto const from = static_cast<std::size_t>(first);
      return static_cast<T>(
          body(index_range{from + piece.begin, from + piece.end}, std::move(value)));
    } else if constexpr (by_index) {
      auto const end = index(piece.end);
      for (auto i = index(piece.begin); i != end; ++i)
        value = static_cast<T>(body(i, std::move(value)));
      return value;
    } else if constexpr (folds_in_lanes<T, Combine>) {
      return static_cast<T>(combine(std::move(value), values_of(piece, combine)));
    } else {
      auto const end = index(piece.end);
      for (auto i = index(piece.begin); i != end; ++i)
        value = static_cast<T>(combine(std::move(value), body(i)));
      return value;
    }
  }

  template <class Combine>
  T values_of(index_range piece, Combine const& combine) const {
    body_at_hand<Body> body = shared;
    return fold_piece<T>(piece, combine, [&](std::size_t i) { return body(index(i)); });
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

// Each block has a value of its own.
template <class T, class Fold, class Combine>
T reduce_in_order(loop_range range, loop_options options, T const& identity, Fold const& fold,
                  Combine const& combine) {
  auto const block = block_of_reduction(range.count);
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
          auto const size = me.block < piece.end - at ? me.block : piece.end - at;
          T& value = me.values[at / me.block].value;
          value = me.fold(std::move(value), index_range{at, at + size}, me.combine);
          at += size;
        }
    }
  } all{fold, combine, values, block};
  run_loop(range, options, {&all, &work::run});
  join_neighbours(values, [&](T& left, T& right) {
    left = static_cast<T>(combine(std::move(left), std::move(right)));
  });
  return std::move(values[0].value);
}

// f's values for a range, joined to `init`, which counts once. call(f, i) calls it for one.
template <class T, class Op, class F, class Call>
T reduce_values(loop_range range, T init, Op const& op, F const& f, Call const& call,
                reduce_options const& options) {
  constexpr bool joins = std::is_invocable_v<Op const&, T, T>;
  static_assert(joins,
                "a reduction's operation joins two values, and is called as const; a body that "
                "takes an element or index stands behind a word: "
                "parallel_reduce(0, n, nigh::sum, body)");
  if constexpr (joins) {
    check_result<T, std::invoke_result_t<Call const&, F const&, std::size_t>>();
    auto const piece = [&](index_range r) {
      body_at_hand<F> mine = f;
      auto const get = [&mine, call](std::size_t i) -> decltype(auto) { return call(mine, i); };
      return fold_piece<T>(r, op, get);
    };
    auto total = combine_pieces<T>(range, options, piece, op);
    return total ? static_cast<T>(op(std::move(init), std::move(*total))) : std::move(init);
  }
}

template <class Sequence, class T, class Op, class F>
T reduce_elements(Sequence const& all, T init, Op const& op, F const& f,
                  reduce_options const& options) {
  static_assert(std::is_invocable_v<F const&, typename Sequence::reference>,
                "a reduction's body or transformation takes an element or index, and is called as "
                "const");
  return reduce_values(
      all.extent(), std::move(init), op, f,
      [all](F const& mine, std::size_t i) -> decltype(auto) { return mine(*all.at(i)); }, options);
}

template <class SequenceA, class SequenceB, class T, class Op, class F>
T reduce_pairs(SequenceA const& a, SequenceB const& b, T init, Op const& op, F const& f,
               reduce_options const& options) {
  static_assert(
      std::is_invocable_v<F const&, typename SequenceA::reference, typename SequenceB::reference>,
      "a reduction's transformation takes an element of each range, and is called as const");
  return reduce_values(
      a.extent(), std::move(init), op, f,
      [a, b](F const& mine, std::size_t i) -> decltype(auto) { return mine(*a.at(i), *b.at(i)); },
      options);
}

template <class W>
concept word = requires { typename W::reduction_word; };

template <word W, class Sequence, class F>
auto reduce_by_word(Sequence const& all, W op, F const& f, reduce_options const& options) {
  using value = std::remove_cvref_t<std::invoke_result_t<F const&, typename Sequence::reference>>;
  using result = std::decay_t<decltype(op(std::declval<value>(), std::declval<value>()))>;
  return reduce_elements(all, W::template identity<result>(), op, f, options);
}

}  // namespace detail

// Words for parallel_reduce; functions of two values as well. The result has the type of a + b, a *
// b, or of the values. Of no values, they give 0 (T()), 1, and for min and max the largest and the
// smallest number there is, infinity if there is one. min and max leave out a NaN, whatever its place.
inline constexpr detail::sum_word sum{};
inline constexpr detail::product_word product{};
inline constexpr detail::min_word min{};
inline constexpr detail::max_word max{};

// Folds [first, last) into one value, beginning with `identity` wherever a thread or block begins:
//
//   body(i, value) -> value          adds iteration i
//   body(index_range, value) -> value
//   body(i) -> value                 its value, added by combine
//
// and combine(value, value) -> value joins two partial results; it is associative, and unless
// options.order is reduction::deterministic, commutative. T is copied from the identity and moved;
// for a body(i) it may be a type that can only be moved. Deterministic reductions of floating-point
// numbers give the same result to the last bit on any number of workers with any schedule; they
// keep up to 512 values, on the heap. Numbers that a body(i) gives are joined by std::plus,
// std::multiplies, the bitwise operations and nigh's words in several lanes.
//
// It does not compile when values would be truncated: a floating-point value with an identity of 0,
// or an integer wider than the identity's.
//
// Otherwise as parallel_for(): an empty or reversed range gives the identity. Stopped early, it
// returns the value of the iterations that have run.
template <std::integral First, std::integral Last, class T, class Body, class Combine,
          detail::loop_choice How = reduce_options>
  requires(!detail::loop_choice<Combine> && !detail::word<T>)
T parallel_reduce(First first, Last last, T identity, Body const& body, Combine const& combine,
                  How const& how = {}) {
  using index = std::common_type_t<First, Last>;
  auto const range = detail::loop_extent<index>(first, last);
  using fold = detail::folded<index, T, Body>;
  fold::check();
  fold const folding{body, static_cast<index>(first)};
  auto const options = detail::options_of<reduce_options>(how);
  if constexpr (std::is_copy_constructible_v<T>) {
    return options.order == reduction::deterministic
               ? detail::reduce_in_order(range, options, identity, folding, combine)
               : detail::reduce_as_it_comes(range, options, identity, folding, combine);
  } else {
    static_assert(fold::by_value,
                  "an identity that cannot be copied has a body(index) that returns a value");
    auto total = detail::combine_pieces<T>(
        range, options, [&](index_range r) { return folding.values_of(r, combine); }, combine);
    return total ? static_cast<T>(combine(std::move(identity), std::move(*total)))
                 : std::move(identity);
  }
}

template <std::integral First, std::integral Last, class T, class Body, class Combine>
T parallel_reduce(First first, Last last, T identity, Body const& body, Combine const& combine,
                  schedule const& how, reduction order) {
  reduce_options options;
  options.how = how;
  options.order = order;
  return nigh::parallel_reduce(first, last, std::move(identity), body, combine, options);
}

// All elements of a random-access range, joined by a word: parallel_reduce(v, nigh::sum).
template <detail::iterable R, detail::word Word, detail::loop_choice How = reduce_options>
auto parallel_reduce(R&& range, Word op, How const& how = {}) {
  return detail::reduce_by_word(detail::sequence_of(range), op, detail::itself(),
                                detail::options_near<reduce_options>(range, how));
}
template <class First, class Last, detail::word Word, detail::loop_choice How = reduce_options>
  requires detail::bounds<First, Last>
auto parallel_reduce(First first, Last last, Word op, How const& how = {}) {
  return detail::reduce_by_word(detail::sequence_of(first, last), op, detail::itself(),
                                detail::options_of<reduce_options>(how));
}
// body(element), or body(i) of integers, joined by a word: parallel_reduce(0, n, nigh::max, body).
template <detail::iterable R, detail::word Word, detail::function Body,
          detail::loop_choice How = reduce_options>
  requires(!detail::loop_choice<Body>)
auto parallel_reduce(R&& range, Word op, Body const& body, How const& how = {}) {
  return detail::reduce_by_word(detail::sequence_of(range), op, body,
                                detail::options_near<reduce_options>(range, how));
}
template <class First, class Last, detail::word Word, detail::function Body,
          detail::loop_choice How = reduce_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Body>)
auto parallel_reduce(First first, Last last, Word op, Body const& body, How const& how = {}) {
  return detail::reduce_by_word(detail::sequence_of(first, last), op, body,
                                detail::options_of<reduce_options>(how));
}

// As std::reduce: init op element op element ..., init once, in any order and grouping. op is
// associative and, unless options.order is reduction::deterministic, commutative; init need be no
// identity of it. T is made of elements, and moved; it is copied only if op does so. Checked for
// truncation, and otherwise, as above.
template <class R, class T, detail::function Op, detail::loop_choice How = reduce_options>
  requires(detail::iterable_before<R, T> && !detail::word<T> && !detail::loop_choice<Op>)
T parallel_reduce(R&& range, T init, Op const& op, How const& how = {}) {
  return detail::reduce_elements(detail::sequence_of(range), std::move(init), op, detail::itself(),
                                 detail::options_near<reduce_options>(range, how));
}
template <class First, class Last, class T, detail::function Op,
          detail::loop_choice How = reduce_options>
  requires(detail::bounds<First, Last> && !detail::word<T> && !detail::loop_choice<Op>)
T parallel_reduce(First first, Last last, T init, Op const& op, How const& how = {}) {
  return detail::reduce_elements(detail::sequence_of(first, last), std::move(init), op,
                                 detail::itself(), detail::options_of<reduce_options>(how));
}

// As std::transform_reduce: init reduce transform(element) reduce ...; of two ranges, transform(a,
// b) for each pair, and without functions the sum of the products a * b. The second range is as
// long as the first (std::invalid_argument), or given by its begin. T may be a type that can only
// be moved. Otherwise as parallel_reduce(range, init, op).
template <class R, class T, detail::function Reduce, detail::function Transform,
          detail::loop_choice How = reduce_options>
  requires(detail::iterable_before<R, T> && !detail::loop_choice<Transform>)
T parallel_transform_reduce(R&& range, T init, Reduce const& reduce, Transform const& transform,
                            How const& how = {}) {
  return detail::reduce_elements(detail::sequence_of(range), std::move(init), reduce, transform,
                                 detail::options_near<reduce_options>(range, how));
}
template <class First, class Last, class T, detail::function Reduce, detail::function Transform,
          detail::loop_choice How = reduce_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Transform>)
T parallel_transform_reduce(First first, Last last, T init, Reduce const& reduce,
                            Transform const& transform, How const& how = {}) {
  return detail::reduce_elements(detail::sequence_of(first, last), std::move(init), reduce,
                                 transform, detail::options_of<reduce_options>(how));
}

template <detail::iterable R, detail::iterable R2, class T, detail::function Reduce,
          detail::function Transform, detail::loop_choice How = reduce_options>
  requires(!detail::loop_choice<Transform>)
T parallel_transform_reduce(R&& range, R2&& second, T init, Reduce const& reduce,
                            Transform const& transform, How const& how = {}) {
  auto const a = detail::sequence_of(range);
  auto const b = detail::sequence_of(second);
  if (a.count != b.count) detail::refuse_lengths("a reduction", a.count, "and", b.count);
  return detail::reduce_pairs(a, b, std::move(init), reduce, transform,
                              detail::options_near<reduce_options>(range, how));
}
template <class First, class Last, detail::random_access Second, class T, detail::function Reduce,
          detail::function Transform, detail::loop_choice How = reduce_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Transform>)
T parallel_transform_reduce(First first, Last last, Second second, T init, Reduce const& reduce,
                            Transform const& transform, How const& how = {}) {
  auto const a = detail::sequence_of(first, last);
  return detail::reduce_pairs(a, detail::sequence_from(second, a.count), std::move(init), reduce,
                              transform, detail::options_of<reduce_options>(how));
}
template <detail::iterable R, detail::iterable R2, class T,
          detail::loop_choice How = reduce_options>
  requires(!detail::loop_choice<T>)
T parallel_transform_reduce(R&& range, R2&& second, T init, How const& how = {}) {
  return nigh::parallel_transform_reduce(range, second, std::move(init), std::plus<>(),
                                   std::multiplies<>(), how);
}
template <class First, class Last, detail::random_access Second, class T,
          detail::loop_choice How = reduce_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<T>)
T parallel_transform_reduce(First first, Last last, Second second, T init, How const& how = {}) {
  return nigh::parallel_transform_reduce(first, last, second, std::move(init), std::plus<>(),
                                   std::multiplies<>(), how);
}

}  // namespace nigh
