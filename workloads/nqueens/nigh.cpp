// SPDX-License-Identifier: Apache-2.0
#include <nigh/fork_join.hpp>

#include "nqueens/config.hpp"

namespace nqueens {

namespace {

std::uint64_t search(Board const board);

// Ways to fill the board with the next queen in column c or further right: the first safe placement
// here and now, the others as a task.
std::uint64_t search_from(int c, Board const board) {
  while (c < board.n && !board.safe(c)) ++c;
  if (c == board.n) return 0;
  auto const [here, further] = nigh::fork_join([&] { return search(board.with(c)); },
                                               [&] { return search_from(c + 1, board); });
  return here + further;
}

std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  return board.rows >= board.cutoff ? serial(board) : search_from(0, board);
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) { return search(empty_board(config)); }

}  // namespace nqueens
