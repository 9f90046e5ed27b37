// SPDX-License-Identifier: Apache-2.0
// survivors [SECONDS [DEPTH]]: ranks that run supervised tasks for so long, whichever of them are
// lost meanwhile, and check each answer. A run has tasks that are stolen, tasks placed at ranks,
// and large results, or is a loop over blocks that have owners.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <nigh/cluster_checkpoint.hpp>
#include <nigh/cluster_for.hpp>
#include <string>
#include <vector>

namespace {

namespace cluster = nigh::cluster;
using Clock = std::chrono::steady_clock;

// Numbers from `first`, as many as make a message that is announced and travels in pieces of its
// own.
std::vector<long> numbers(long first, std::vector<long> const& more) {
  std::vector<long> all(4000 + more.size());
  for (auto& n : all) n = first++;
  return all;
}

long fib(int n, int ranks) {
  if (n < 2) return n;
  long left = 0, right = 0;
  cluster::task_scope scope;
  if (n % 7 == 0) {
    std::vector<long> large;
    scope.spawn<numbers>(cluster::near(n % ranks), large, n, std::vector<long>(1000));
    scope.wait();
    if (large.size() != 5000 || large.back() != n + 4999) return -1'000'000'000;
  }
  scope.spawn<fib>(left, n - 1, ranks);
  if (n % 5 == 0)
    scope.spawn<fib>(cluster::near(n % ranks), right, n - 2, ranks);
  else
    right = fib(n - 2, ranks);
  scope.wait();
  return left + right;
}

constexpr std::size_t blocks = 12;

std::string name_of(std::size_t block) { return "block " + std::to_string(block); }

long value_of(std::size_t block, long step) { return static_cast<long>(block) * 1000 + step; }

void keep_block(nigh::index_range range, long step) {
  cluster::checkpoint(name_of(range.begin), step, value_of(range.begin, step));
}

cluster::session const* session = nullptr;

constexpr std::uint64_t keepers = 3;  // ranks that have a block

// Keeps all blocks at that step, and says how many are missing or wrong. One may be missing when
// all its keepers are lost: then all are kept again.
long keep_blocks(long step, int ranks) {
  auto const owner = [ranks](std::size_t block) { return static_cast<int>(block) % ranks; };
  for (;;) {
    cluster::parallel_for<keep_block>({0, blocks, 1}, owner, step);
    std::size_t found = 0;
    long wrong = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      auto const last = cluster::last_checkpoint<long>(name_of(block));
      if (!last || last->step < step) continue;
      ++found;
      if (last->value != value_of(block, step)) ++wrong;
    }
    if (found == blocks || session->counters().ranks_lost < keepers)
      return wrong + static_cast<long>(blocks - found);
  }
}

long plain_fib(int n) { return n < 2 ? n : plain_fib(n - 1) + plain_fib(n - 2); }

int on(long seconds) { return seconds > 0 ? 1 : 0; }

}  // namespace

int main(int argc, char** argv) {
  nigh::cluster::session_options options;
  options.supervised = true;
  cluster::session here(argc, argv, options);
  session = &here;
  double const seconds = argc > 1 ? std::atof(argv[1]) : 1;
  int const depth = argc > 2 ? std::atoi(argv[2]) : 18;
  long const expected = plain_fib(depth);
  auto const end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  int runs = 0, wrong = 0;
  // The root says whether to go on, so that all ranks run as often.
  while (cluster::run<on>(end > Clock::now() ? 1L : 0L) != 0) {
    if (cluster::run<fib>(depth, here.ranks()) != expected) ++wrong;
    if (runs % 4 == 0 && cluster::run<keep_blocks>(runs, here.ranks()) != 0) ++wrong;
    if (++runs > 1) continue;
    std::printf("rank %d is at work\n", here.rank());
    std::fflush(stdout);
  }
  std::printf("rank %d: %d runs, %d wrong, %llu tasks run again\n", here.rank(), runs, wrong,
              static_cast<unsigned long long>(here.counters().tasks_run_again));
  std::fflush(stdout);
  return wrong == 0 && runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
