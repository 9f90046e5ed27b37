// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_for(first, last, body): calls the body for every iteration, spread over the workers.

#include <concepts>
#include <cstddef>
#include <nigh/detail/loop.hpp>
#include <nigh/schedule.hpp>
#include <type_traits>

namespace nigh {

// Calls body(i) for every i in [first, last), or body(index_range) for pieces that together are
// [first, last), and returns when all have returned. Integers of any kind; the body's argument has
// the common type of both. Calls may run at the same time and in any order, each in some worker's
// thread or in the caller's, which takes part; the body itself is shared, and called as const.
//
// A body may return void or loop_flow: with loop_flow::leave the loop ends early, as it does when
// options.stop says so. Pieces not begun are dropped then; those running go on, and body(i) sees it
// after each iteration of its own piece. When a body throws, the loop ends early, and the first
// exception is rethrown here.
//
// The iterations belong to the calling worker's runtime; any other thread becomes a guest of
// options.where or of the default runtime for the time of the call. Loops nest, also in tasks. A
// thread that waits for the others in a loop runs other tasks meanwhile: hold no lock across a loop
// that a task may want, too. Allocates nothing on up to 32 workers.
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

}  // namespace nigh
