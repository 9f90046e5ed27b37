// SPDX-License-Identifier: Apache-2.0
// checkpoints [SIDE [ROUNDS [EVERY [SECONDS]]]]: sweeps of Jacobi's method over a grid of SIDE x
// SIDE cells, in blocks of rows, on supervised ranks. A round is a task for each block, which
// sweeps it several times; the block comes with as many rows of its neighbours as it has sweeps.
// After EVERY rounds (or 0: when SECONDS have passed) the root keeps the grid, and a block keeps
// itself in the midst of its round. So the root goes on from its last grid when it begins anew, and
// a block from its middle. Each rank says the grid's hash, which is the same bit for bit whichever
// ranks are lost, and how often its tasks have gone on from a checkpoint.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <nigh/cluster_checkpoint.hpp>
#include <string>
#include <vector>

#include "stencils/row_blocks.hpp"

namespace {

namespace cluster = nigh::cluster;
using Clock = std::chrono::steady_clock;
using stencils::Rows;

constexpr long sweeps = 8;  // in a round

stencils::RowBlocks blocks_of(long side) { return {side, 8, sweeps}; }

std::atomic<int> grids_restored{0}, blocks_restored{0};
std::atomic<int> kept{0};
std::atomic<long> kept_us{0}, longest_us{0}, all_us{0};

long us_since(Clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since).count();
}

// `done`: sweeps of all rounds before. Those rows come back that the neighbours' rows have not made
// too old.
Rows sweep_block(long block, long done, long side, bool keeps, Rows rows) {
  auto const name = "block " + std::to_string(block);
  long swept = 0;
  if (keeps)
    if (auto last = cluster::last_checkpoint<Rows>(name);
        last && last->step > done && last->step < done + sweeps) {
      swept = last->step - done;
      rows = std::move(last->value);
      ++blocks_restored;
    }
  auto next = rows;
  while (swept < sweeps) {
    stencils::sweep(rows, next, side);
    if (++swept == sweeps / 2 && keeps) cluster::checkpoint(name, done + swept, rows);
  }
  return rows;
}

void one_round(Rows& grid, long side, long done, long ranks, bool keeps) {
  auto const all = blocks_of(side);
  std::vector<Rows> swept(static_cast<std::size_t>(all.blocks));
  cluster::task_scope scope;
  for (long b = 0; b < all.blocks; ++b)
    scope.spawn<sweep_block>(cluster::near(static_cast<int>(b * ranks / all.blocks)),
                             swept[static_cast<std::size_t>(b)], b, done, side, keeps,
                             all.take(grid, b));
  scope.wait();
  for (long b = 0; b < all.blocks; ++b) all.put_back(swept[static_cast<std::size_t>(b)], b, grid);
}

struct Job {
  long side, rounds, every;
  double seconds;
  long ranks;
};

void keep(long round, Rows const& grid) {
  auto const begin = Clock::now();
  cluster::checkpoint("grid", round, grid);
  long const us = us_since(begin);
  ++kept;
  kept_us += us;
  longest_us = std::max(longest_us.load(), us);
}

std::uint64_t jacobi(Job job) {
  auto const begin = Clock::now();
  long round = 0;
  Rows grid;
  if (auto last = cluster::last_checkpoint<Rows>("grid")) {
    round = last->step;
    grid = std::move(last->value);
    ++grids_restored;
  } else {
    grid = stencils::first_grid(job.side);
  }
  std::printf("the root is at work, from round %ld\n", round);
  std::fflush(stdout);
  auto last_kept = Clock::now();
  while (round < job.rounds) {
    one_round(grid, job.side, round * sweeps, job.ranks, job.every > 0);
    bool const is_time =
        job.every > 0 ? ++round % job.every == 0
                      : (++round, static_cast<double>(us_since(last_kept)) > job.seconds * 1e6);
    if (!is_time) continue;
    keep(round, grid);
    last_kept = Clock::now();
  }
  all_us = us_since(begin);
  return stencils::hash_of(grid);
}

}  // namespace

int main(int argc, char** argv) {
  cluster::session_options options;
  options.supervised = true;
  cluster::session here(argc, argv, options);
  auto const number = [&](int i, double otherwise) {
    return argc > i ? std::atof(argv[i]) : otherwise;
  };
  Job const job{static_cast<long>(number(1, 200)), static_cast<long>(number(2, 20)),
                static_cast<long>(number(3, 4)), number(4, 10), here.ranks()};
  auto const hash = cluster::run<jacobi>(job);
  if (kept > 0)
    std::printf(
        "rank %d: kept %d times, %.1f ms each, at most %.1f, %.2f%% of %.1f s\n", here.rank(),
        kept.load(), 1e-3 * static_cast<double>(kept_us) / kept,
        1e-3 * static_cast<double>(longest_us),
        100.0 * static_cast<double>(kept_us) / static_cast<double>(std::max(1L, all_us.load())),
        1e-6 * static_cast<double>(all_us));
  bool const is_right =
      job.side > 1000 || hash == stencils::hash_after(sweeps * job.rounds, job.side);
  std::printf("rank %d: grid %016llx is %s; went on from a checkpoint: grid %d, blocks %d\n",
              here.rank(), static_cast<unsigned long long>(hash), is_right ? "right" : "wrong",
              grids_restored.load(), blocks_restored.load());
  std::fflush(stdout);
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
