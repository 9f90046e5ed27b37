// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_for(first, last, body): calls the body for every iteration, spread over the workers.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <nigh/array.hpp>
#include <nigh/box.hpp>
#include <nigh/detail/loop.hpp>
#include <nigh/schedule.hpp>
#include <span>
#include <type_traits>

namespace nigh {

// Calls body(i) for every i in [first, last), or body(index_range) for pieces that together are
// [first, last), and returns when all have returned. Integers of any kind; the body's argument has
// the common type of both. Calls may run at the same time and in any order, each in a worker's
// thread or in the caller's, which takes part; the body itself is shared, and called as const.
//
// A body may return void or loop_flow: with loop_flow::leave the loop ends early, as it does when
// options.stop is set. Pieces not begun are then dropped; running pieces go on, except that a piece
// of body(i) ends after the iteration that returned leave. When a body throws, the loop ends early,
// and the first exception is rethrown here.
//
// The iterations belong to the calling worker's runtime; any other thread becomes an external
// thread of options.where or of the default runtime during the call. Loops nest, also in tasks. A
// thread that waits for the others in a loop runs other tasks meanwhile: hold no lock across a loop
// that a task may want, too. Allocates nothing on up to 32 workers; over several domains, a loop by
// an array's placement allocates if it has a grain.
//
// std::invalid_argument when first > last.
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
  parallel_for(first, last, body, options);
}

// The same for every element of a box: body(i, j) or body(i, j, k), or body(box) for smaller boxes
// that together are this one and reach over all of the last dimension. Pieces of the schedule are
// elements in their order, last dimension innermost; for a body that takes boxes, rows.
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
  parallel_for(all, body, options);
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
  if (!options.how) options.how = local_schedule(blocks.data);
  options.grain = blocks.elements;
  auto const each = blocks.elements;
  T* const data = blocks.data.data();
  parallel_for(
      std::size_t{0}, blocks.data.size(),
      [&body, data, each](index_range r) {
        for (auto at = r.begin; at < r.end;) {
          auto const count = std::min(each, r.end - at);
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
  parallel_for(blocks, body, options);
}

}  // namespace nigh
