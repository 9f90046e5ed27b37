// SPDX-License-Identifier: Apache-2.0
#include "nqueens/config.hpp"

namespace nqueens {

namespace {

std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  if (board.rows >= board.cutoff) return serial(board);
  Found found;
  int children = 0;
  for (int c = 0; c < board.n; ++c) {
    if (!board.safe(c)) continue;
    std::uint64_t& result = found.of(children++);
#pragma omp task untied firstprivate(board, c) shared(result)
    result = search(board.with(c));
  }
#pragma omp taskwait
  return found.sum(children);
}

}  // namespace

std::uint64_t solve_openmp(Config const& config) { return search(empty_board(config)); }

}  // namespace nqueens
