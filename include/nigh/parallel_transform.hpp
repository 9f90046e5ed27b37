// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_for_each, parallel_transform, parallel_generate, parallel_fill: something for each
// element, by the names of the standard library.

#include <nigh/detail/cxx20.hpp>

#include <cstddef>
#include <nigh/detail/sequence.hpp>
#include <nigh/parallel_for.hpp>
#include <type_traits>
#include <utility>

namespace nigh {
namespace detail {

template <class Sequence, class F, class Options>
void for_each_element(Sequence const& all, F const& f, Options const& options) {
  each_piece(all.extent(), options, for_elements<true, Sequence, F>{f, all});
}

template <class In, class Out, class F>
void transform(In const& in, Out const& out, F const& f, loop_options const& options) {
  static_assert(std::is_invocable_v<F const&, typename In::reference>,
                "a transformation takes an element or index, and is called as const");
  each_piece(in.extent(), options, [&f, in, out](index_range r) {
    body_at_hand<F> mine = f;
    auto const end = in.at(r.end);
    auto to = out.at(r.begin);
    for (auto from = in.at(r.begin); from != end; ++from) {
      *to = mine(*from);
      ++to;
    }
  });
}

template <class A, class B, class Out, class F>
void transform(A const& a, B const& b, Out const& out, F const& f, loop_options const& options) {
  static_assert(std::is_invocable_v<F const&, typename A::reference, typename B::reference>,
                "a transformation of two ranges takes an element of each, and is called as const");
  each_piece(a.extent(), options, [&f, a, b, out](index_range r) {
    body_at_hand<F> mine = f;
    auto const end = a.at(r.end);
    auto with = b.at(r.begin);
    auto to = out.at(r.begin);
    for (auto from = a.at(r.begin); from != end; ++from) {
      *to = mine(*from, *with);
      ++with;
      ++to;
    }
  });
}

template <class Out>
auto room_for(char const* what, std::size_t count, Out&& out) {
  if (auto const room = output_room(out); room.is_known && room.count != count)
    refuse_lengths(what, count, "into", room.count);
  return output_sequence(out, count);
}

template <class Sequence, class G>
void generate(Sequence const& all, G const& g, loop_options const& options) {
  check_writable<Sequence>();
  constexpr bool by_index = std::is_invocable_v<G const&, std::size_t>;
  static_assert(std::disjunction_v<std::bool_constant<by_index>, std::is_invocable<G const&>>,
                "a generator takes nothing, or the element's index, and is called as const");
  each_piece(all.extent(), options, [&g, all](index_range r) {
    body_at_hand<G> mine = g;
    auto to = all.at(r.begin);
    for (auto i = r.begin; i < r.end; ++i) {
      if constexpr (by_index)
        *to = mine(i);
      else
        *to = mine();
      ++to;
    }
  });
}

template <class Sequence, class T>
void fill(Sequence const& all, T const& value, loop_options const& options) {
  check_writable<Sequence>();
  each_piece(all.extent(), options, [&value, all](index_range r) {
    body_at_hand<T> mine = value;
    auto const end = all.at(r.end);
    for (auto to = all.at(r.begin); to != end; ++to) *to = mine;
  });
}

}  // namespace detail

// For all algorithms here:
//
// [first, last) are integers or random-access iterators; a range is a vector, span, nigh::array, C
// array or view. A C array followed by another one, an iterator or a pointer looks like two
// iterators: write std::span of it. Reversed ones are empty. The last argument is a nigh::loop_options or a schedule;
// without one, a loop over a nigh::array runs near its data. Functions are shared by the threads,
// and called as const, at the same time and in any order. Exceptions, nested loops and threads from
// outside are as for parallel_for(): when a function throws, the first exception is rethrown and
// some elements are done. Calls: one for each element; memory: none.

// f(element) for each; a result other than nigh::loop_flow is ignored.
template <detail::iterable R, detail::function F, detail::loop_choice How = loop_options>
void parallel_for_each(R&& range, F const& f, How const& how = {}) {
  detail::for_each_element(detail::sequence_of(range), f,
                           detail::options_near<loop_options>(range, how));
}
template <class First, class Last, detail::function F, detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
void parallel_for_each(First first, Last last, F const& f, How const& how = {}) {
  detail::for_each_element(detail::sequence_of(first, last), f, detail::options_of(how));
}

// Writes f(element) to out, or f(a, b) for each pair of two ranges. `out` is a random-access
// iterator, or a range as long as the input: std::invalid_argument when it is not, or when the
// second range has another length than the first. It may be an input itself. Returns the end of
// the output. A second iterator counts as far as [first, last) reaches.
template <class R, class Out, detail::function F, detail::loop_choice How = loop_options>
  requires(detail::iterable_before<R, Out> && !detail::loop_choice<F>)
auto parallel_transform(R&& range, Out&& out, F const& f, How const& how = {}) {
  auto const in = detail::sequence_of(range);
  auto const to = detail::room_for("a transform", in.count, out);
  detail::transform(in, to, f, detail::options_near<loop_options>(range, how));
  return detail::output_end(out, in.count);
}
template <class First, class Last, class Out, detail::function F,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<F>)
auto parallel_transform(First first, Last last, Out&& out, F const& f, How const& how = {}) {
  auto const in = detail::sequence_of(first, last);
  auto const to = detail::room_for("a transform", in.count, out);
  detail::transform(in, to, f, detail::options_of(how));
  return detail::output_end(out, in.count);
}
template <detail::iterable R, detail::iterable R2, class Out, detail::function F,
          detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<F>)
auto parallel_transform(R&& range, R2&& second, Out&& out, F const& f, How const& how = {}) {
  auto const a = detail::sequence_of(range);
  auto const b = detail::sequence_of(second);
  if (a.count != b.count) detail::refuse_lengths("a transform", a.count, "and", b.count);
  auto const to = detail::room_for("a transform", a.count, out);
  detail::transform(a, b, to, f, detail::options_near<loop_options>(range, how));
  return detail::output_end(out, a.count);
}
template <class First, class Last, detail::random_access Second, class Out, detail::function F,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<F>)
auto parallel_transform(First first, Last last, Second second, Out&& out, F const& f,
                        How const& how = {}) {
  auto const a = detail::sequence_of(first, last);
  auto const to = detail::room_for("a transform", a.count, out);
  detail::transform(a, detail::sequence_from(second, a.count), to, f, detail::options_of(how));
  return detail::output_end(out, a.count);
}

// element = g(index of the element in the range), or g(): then which element gets which value is
// left open.
template <detail::iterable R, detail::function G, detail::loop_choice How = loop_options>
void parallel_generate(R&& range, G const& g, How const& how = {}) {
  detail::generate(detail::sequence_of(range), g, detail::options_near<loop_options>(range, how));
}
template <class First, class Last, detail::function G, detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
void parallel_generate(First first, Last last, G const& g, How const& how = {}) {
  detail::generate(detail::sequence_of(first, last), g, detail::options_of(how));
}

// element = value.
template <class R, class T, detail::loop_choice How = loop_options>
  requires detail::iterable_before<R, T>
void parallel_fill(R&& range, T const& value, How const& how = {}) {
  detail::fill(detail::sequence_of(range), value, detail::options_near<loop_options>(range, how));
}
template <class First, class Last, class T, detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<T>)
void parallel_fill(First first, Last last, T const& value, How const& how = {}) {
  detail::fill(detail::sequence_of(first, last), value, detail::options_of(how));
}

}  // namespace nigh
