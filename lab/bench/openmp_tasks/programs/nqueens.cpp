// SPDX-License-Identifier: Apache-2.0
// Ways to place n queens: a task for each safe place in the next row, with a board of its own.
#include <cstring>

#include "program.hpp"

namespace {

constexpr int most = 16;

struct Board {
  int size;
  signed char column[most];
};

bool safe(Board const& board, int row, int column) {
  for (int above = 0; above < row; ++above) {
    int const distance = column - board.column[above];
    if (distance == 0 || distance == row - above || distance == above - row) return false;
  }
  return true;
}

long solutions(Board const& board, int row) {
  if (row == board.size) return 1;
  long found[most] = {};
  for (int column = 0; column < board.size; ++column) {
    if (!safe(board, row, column)) continue;
#pragma omp task firstprivate(board) shared(found)
    {
      Board next = board;
      next.column[row] = static_cast<signed char>(column);
      found[column] = solutions(next, row + 1);
    }
  }
#pragma omp taskwait
  long sum = 0;
  for (long const f : found) sum += f;
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
  int const n = static_cast<int>(task_program::size_from(argc, argv, 11, {1, 14}));
  Board const empty{n, {}};
  long found = 0;
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    found = solutions(empty, 0);
  });
  return task_program::report(seconds, found == known[n]);
}
