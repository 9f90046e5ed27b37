// SPDX-License-Identifier: Apache-2.0
#include "nqueens/config.hpp"

namespace nqueens {

std::uint64_t serial(Board const board) noexcept {
  if (board.full()) return 1;
  std::uint64_t found = 0;
  for (int c = 0; c < board.n; ++c)
    if (board.safe(c)) found += serial(board.with(c));
  return found;
}

std::uint64_t solve_serial(Config const& config) { return serial(empty_board(config)); }

}  // namespace nqueens
