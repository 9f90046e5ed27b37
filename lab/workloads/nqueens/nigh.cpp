// SPDX-License-Identifier: Apache-2.0
#include <nigh/typed_task.hpp>

#include "nqueens/config.hpp"

namespace nqueens {

namespace {

std::uint64_t search(nigh::task_context& at, Board board);

// Ways to fill the board with the next queen in column c or further right: the first safe placement
// here and now, the others as a task.
std::uint64_t search_from(nigh::task_context& at, Board board, int c) {
  while (c < board.n && !board.safe(c)) ++c;
  if (c == board.n) return 0;
  Board const child = board.with(c);
  nigh::typed_task<search_from> further(at, board, c + 1);
  auto const here = child.full() ? 1 : search(at, child);
  return here + further.join(at);
}

std::uint64_t search(nigh::task_context& at, Board const board) {
  return board.rows >= board.cutoff ? serial(board) : search_from(at, board, 0);
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) {
  return search(nigh::this_task_context(), empty_board(config));
}

}  // namespace nqueens
