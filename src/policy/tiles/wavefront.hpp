// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which a tile goes through the grid's second dimension: a wavefront of some rows a
// step, each step `reach` rows behind the one before, so that what a step has written is read while
// it is in the cache.
//
//   step 2   | 0 | 1 . 2   3        A piece of a step needs the pieces of the step before that are
//   step 1   |  0  | 1 . 2   3      below it and, by the reach, to either side: done, since they
//   are step 0   |   0   | 1 . 2   3    of this block or of one before.
//            rows ->
//
// Where the rows are a ring, only step 0 may begin at its seam: step s leaves s x reach rows out on
// either side of it, and when all else is done these follow, step by step.

#include <algorithm>
#include <cstddef>

namespace nigh::policy {

// Calls f(step, row_begin, row_end), steps from 0.
template <class F>
void for_each_row_piece(std::size_t rows, std::size_t reach, bool ring, std::size_t at_a_time,
                        std::size_t steps, F const& f) {
  if (steps == 0) return;
  auto const ends_behind = (steps - 1) * reach;
  for (std::size_t block = 0; block < rows + ends_behind; block += at_a_time)
    for (std::size_t step = 0; step < steps; ++step) {
      auto const behind = step * reach;
      if (block + at_a_time <= behind) break;  // later steps have not begun either
      auto const left_out = ring ? behind : 0;
      if (rows <= 2 * left_out) break;
      auto const begin = std::max(block > behind ? block - behind : 0, left_out);
      auto const end = std::min(block + at_a_time - behind, rows - left_out);
      if (begin < end) f(step, begin, end);
    }
  if (!ring) return;
  for (std::size_t step = 1; step < steps; ++step) {
    auto const left_out = step * reach;
    if (rows <= 2 * left_out) {
      f(step, 0, rows);
    } else {
      f(step, rows - left_out, rows);
      f(step, 0, left_out);
    }
  }
}

}  // namespace nigh::policy
