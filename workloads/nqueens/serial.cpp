// SPDX-License-Identifier: Apache-2.0
#include "nqueens/config.hpp"

namespace nqueens {

namespace {

std::uint64_t fill_up(Board& board) noexcept {
  if (board.full()) return 1;
  std::uint64_t found = 0;
  for (int c = 0; c < board.n; ++c) {
    if (!board.safe(c)) continue;
    board.column[static_cast<std::size_t>(board.rows)] = static_cast<std::int8_t>(c);
    ++board.rows;
    found += fill_up(board);
    --board.rows;
  }
  return found;
}

}  // namespace

std::uint64_t serial(Board board) noexcept { return fill_up(board); }

std::uint64_t solve_serial(Config const& config) { return serial(empty_board(config)); }

}  // namespace nqueens
