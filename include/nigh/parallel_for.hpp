// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_for(first, last, body), parallel_for(range, body): calls the body for every iteration or
// element, spread over the workers.

#include <nigh/detail/cxx20.hpp>

#include <concepts>
#include <cstddef>
#include <nigh/box.hpp>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/sequence.hpp>
#include <span>
#include <type_traits>

namespace nigh {

// Calls body(i) for every i in [first, last), or body(index_range) for pieces that together are
// [first, last), and returns when all have returned. Integers of any kind; the body's argument has
// the common type of both; the numbers of an index_range below 0 are those modulo 2^64. Calls may
// run at the same time and in any order, each in a worker's thread or in the caller's, which takes
// part; the body itself is shared, or copied if it is plain data, and called as const.
//
// A body may return void or loop_flow: with loop_flow::leave the loop ends early, as it does when
// options.stop is set. Pieces not begun are then dropped; running pieces go on, except that a piece
// of body(i) ends after the iteration that returned leave. When a body throws, the loop ends early,
// and the first exception is rethrown here.
//
// The iterations belong to the calling worker's runtime; any other thread becomes an external
// thread of options.where or of the default runtime during the call. Loops nest, also in tasks. A
// thread that waits for the others in a loop runs other tasks meanwhile: hold no lock across a loop
// that a task may want, too. Allocates nothing on up to 32 workers; on more a few KiB, without
// which the calling thread runs all of it. Over several domains, a loop by an array's placement
// allocates if it has a grain, and does not follow the placement without memory for that.
//
// An empty or reversed range does nothing. std::invalid_argument when the index is unsigned and
// `first` negative.
template <std::integral First, std::integral Last, class Body>
void parallel_for(First first, Last last, Body const& body, loop_options const& options = {}) {
  using index = std::common_type_t<First, Last>;
  auto const range = detail::loop_extent<index>(first, last);
  detail::for_pieces<index, Body> pieces{body, static_cast<index>(first)};
  detail::run_loop(range, options, {&pieces, &detail::for_pieces<index, Body>::run});
}

template <std::integral First, std::integral Last, class Body>
void parallel_for(First first, Last last, Body const& body, schedule const& how) {
  loop_options options;
  options.how = how;
  nigh::parallel_for(first, last, body, options);
}

// The same for every element of a box: body(i, j) or body(i, j, k), or body(box) for smaller boxes
// that together are this one and reach over all of the last dimension. Pieces of the schedule are
// elements in their order, last dimension innermost; for a body that takes boxes, rows. A box that
// is empty or reversed in a dimension does nothing.
template <std::size_t D, class Body>
void parallel_for(box<D> const& all, Body const& body, loop_options const& options = {}) {
  using pieces_of = detail::for_box<D, Body>;
  auto const count = detail::box_count(all, pieces_of::dimensions);
  pieces_of pieces{body, all};
  detail::run_loop({0, count}, options, {&pieces, &pieces_of::run});
}

template <std::size_t D, class Body>
void parallel_for(box<D> const& all, Body const& body, schedule const& how) {
  loop_options options;
  options.how = how;
  nigh::parallel_for(all, body, options);
}

namespace detail {

// The work of a loop over elements on one piece of it. With AnyResult, results other than loop_flow
// are ignored, as std::for_each does.
template <bool AnyResult, class Sequence, class Body>
struct for_elements {
  Body const& shared;
  Sequence all;

  using reference = typename Sequence::reference;
  using span = std::span<std::conditional_t<std::is_lvalue_reference_v<reference>,
                                            std::remove_reference_t<reference>, int>>;
  static constexpr bool by_element = std::is_invocable_v<Body const&, reference>;
  // Here and below, a condition is not evaluated after an earlier one is true, as in for_pieces.
  static_assert(std::disjunction_v<std::bool_constant<by_element>,
                                   std::conjunction<std::is_pointer<decltype(Sequence::first)>,
                                                    std::is_invocable<Body const&, span>>>,
                "a body of a loop over a range takes an element, or where these lie side by side "
                "a std::span of some, and is called as const");
  static_assert(std::disjunction_v<std::bool_constant<AnyResult || !shares_bytes<reference>>,
                                   std::is_invocable<Body const&, bool>>,
                "elements of a std::vector<bool> share bytes, so threads cannot write to them at the "
                "same time: use a std::vector<char>, or a body that takes a bool and only reads");

  loop_flow operator()(index_range piece) const {
    body_at_hand<Body> body = shared;
    if constexpr (by_element) {
      auto const end = all.at(piece.end);
      for (auto it = all.at(piece.begin); it != end; ++it) {
        using value = decltype(body(*it));
        static_assert(AnyResult || std::is_void_v<value> || std::is_same_v<value, loop_flow>,
                      "a loop's body returns void or nigh::loop_flow");
        if constexpr (std::is_same_v<value, loop_flow>) {
          if (body(*it) == loop_flow::leave) return loop_flow::leave;
        } else {
          body(*it);
        }
      }
      return loop_flow::go_on;
    } else {
      return goes_on(body, span(all.at(piece.begin), piece.size())) ? loop_flow::go_on
                                                                    : loop_flow::leave;
    }
  }
};

}  // namespace detail

// Calls body(element) for every element of a random-access range (a vector, span, nigh::array, C
// array or view); where elements lie side by side, body(std::span<T>) for pieces that together are
// the range. Elements are passed as the range's iterator gives them, nothing is copied. Over a
// nigh::array, a loop whose options name no schedule runs by local_schedule(array), computed anew
// for each loop: for an array of many pieces, make one and name it. Otherwise as above.
template <detail::iterable R, class Body, detail::loop_choice How = loop_options>
void parallel_for(R&& range, Body const& body, How const& how = {}) {
  auto const all = detail::sequence_of(range);
  using elements = detail::for_elements<false, std::remove_cv_t<decltype(all)>, Body>;
  detail::each_piece(all.extent(), detail::options_near<loop_options>(range, how),
                     elements{body, all});
}

// The blocks of an array, each of this many elements, except perhaps the last; 0: at least a page.
template <class T>
struct array_blocks {
  array<T>& data;
  std::size_t elements;
};
template <class T>
array_blocks<T> blocks_of(array<T>& a, std::size_t elements = 0) {
  if (elements == 0) elements = detail::page_of_elements(sizeof(T));
  return {a, elements};
}

// Calls body(std::span<T> block, std::size_t index_of_its_first) for every block. Unless options
// name another schedule, it is local_schedule(array), computed anew for each loop: for an array of
// many pieces, make one and name it. options.grain is the block's size.
template <class T, class Body>
void parallel_for(array_blocks<T> const& blocks, Body const& body, loop_options options = {}) {
  if (!options.how) options.how = nigh::local_schedule(blocks.data);
  options.grain = blocks.elements;
  auto const each = blocks.elements;
  T* const data = blocks.data.data();
  nigh::parallel_for(
      std::size_t{0}, blocks.data.size(),
      [&body, data, each](index_range r) {
        for (auto at = r.begin; at < r.end;) {
          auto const count = each < r.end - at ? each : r.end - at;
          if (!detail::goes_on(body, std::span<T>(data + at, count), at)) return loop_flow::leave;
          at += count;
        }
        return loop_flow::go_on;
      },
      options);
}

template <class T, class Body>
void parallel_for(array_blocks<T> const& blocks, Body const& body, schedule const& how) {
  loop_options options;
  options.how = how;
  nigh::parallel_for(blocks, body, options);
}

}  // namespace nigh
