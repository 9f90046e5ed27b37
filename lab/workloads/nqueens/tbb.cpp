// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/task_group.h>

#include "nqueens/config.hpp"

namespace nqueens {

namespace {

std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  if (board.rows >= board.cutoff) return serial(board);
  Found found;
  int children = 0;
  oneapi::tbb::task_group group;
  for (int c = 0; c < board.n; ++c) {
    if (!board.safe(c)) continue;
    std::uint64_t& result = found.of(children++);
    group.run([board, c, &result] { result = search(board.with(c)); });
  }
  group.wait();
  return found.sum(children);
}

}  // namespace

std::uint64_t solve_tbb(Config const& config) { return search(empty_board(config)); }

}  // namespace nqueens
