// SPDX-License-Identifier: Apache-2.0
// Each rank says who it is and where, and checks a sum over all. With an argument the ranks go on
// summing for so many seconds, for those who do something to one meanwhile; rank 0 then tells how
// long the slowest sum took.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

int sum(int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

// Rank 0 says whether to go on, so that all ranks sum as often.
Clock::duration slowest_sum(int rank, Clock::time_point end) {
  auto slowest = Clock::duration::zero();
  for (bool is_on = true; is_on;) {
    auto const start = Clock::now();
    is_on = sum(rank == 0 && start < end) != 0;
    slowest = std::max(slowest, Clock::now() - start);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return slowest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int const all = sum(rank);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::printf("rank %d of %d on %s: sum %d\n", rank, ranks, host, all);
  std::fflush(stdout);
  if (argc > 1) {
    auto const slowest = slowest_sum(rank, Clock::now() + std::chrono::seconds(std::stoi(argv[1])));
    if (rank == 0) std::printf("slowest sum: %.2f s\n", seconds(slowest));
  }
  // MPICH 4.0 on UCX 1.13 over TCP hangs in MPI_Finalize, every third time, if messages went just
  // before.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  MPI_Finalize();
  return all == ranks * (ranks - 1) / 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
