// SPDX-License-Identifier: Apache-2.0
#include "workloads/cluster.hpp"

#include <nigh/cluster.hpp>

#include "nqueens/config.hpp"
#include "workloads/size_text.hpp"

namespace nqueens {

namespace {

// Ways to fill the board: the first safe placement here and now, each of the others as a task.
std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  if (board.rows >= board.cutoff) return serial(board);
  int first = 0;
  while (first < board.n && !board.safe(first)) ++first;
  if (first == board.n) return 0;
  Found found;
  int count = 0;
  nigh::cluster::task_scope scope;
  for (int c = first + 1; c < board.n; ++c)
    if (board.safe(c)) scope.spawn<search>(found.of(count++), board.with(c));
  auto const here = search(board.with(first));
  scope.wait();
  return here + found.sum(count);
}

std::uint64_t solve_cluster(Config const& config) {
  return nigh::cluster::run<search>(empty_board(config));
}

}  // namespace

}  // namespace nqueens

namespace workloads {

ClusterProblem nqueens_on_ranks() {
  return {"nqueens", [](std::string const& size, int cutoff, int) -> std::function<Answer()> {
            nqueens::Config const config{static_cast<int>(number(size, 1, 15)), cutoff};
            return [config] { return nqueens::solve_cluster(config); };
          }};
}

}  // namespace workloads
