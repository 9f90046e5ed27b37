// SPDX-License-Identifier: Apache-2.0
// Counts the ways to put N queens on an N x N board: a task for every queen that has a place.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <nigh/task_scope.hpp>

namespace {

std::atomic<long> solutions{0};

// One bit for each column: which are taken, and which the diagonals from above reach in this row.
void place(int queens_left, unsigned board, unsigned columns, unsigned left, unsigned right) {
  if (queens_left == 0) {
    solutions.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  nigh::task_scope scope;  // ends when all that it spawned have
  for (unsigned free = board & ~(columns | left | right); free != 0; free &= free - 1) {
    unsigned const queen = free & -free;
    scope.spawn([=] {
      place(queens_left - 1, board, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  int const n = argc > 1 ? std::atoi(argv[1]) : 12;
  if (n < 1 || n > 20) {
    std::fprintf(stderr, "queens: %s is not a number from 1 to 20\n", argv[1]);
    return 2;
  }
  place(n, (1u << n) - 1, 0, 0, 0);
  std::printf("%d queens: %ld solutions\n", n, solutions.load());
}
