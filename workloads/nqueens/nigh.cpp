// SPDX-License-Identifier: Apache-2.0
#include <nigh/task_scope.hpp>

#include "nqueens/config.hpp"

namespace nqueens {

namespace {

std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  if (board.rows >= board.cutoff) return serial(board);
  Found found;
  int children = 0;
  nigh::task_scope scope;
  for (int c = 0; c < board.n; ++c) {
    if (!board.safe(c)) continue;
    std::uint64_t& result = found.of(children++);
    scope.spawn([board, c, &result] { result = search(board.with(c)); });
  }
  scope.wait();
  return found.sum(children);
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) { return search(empty_board(config)); }

}  // namespace nqueens
