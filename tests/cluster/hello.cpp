// SPDX-License-Identifier: Apache-2.0
// Each rank says who it is and where, and checks a sum over all. With an argument the ranks go on
// summing for so many seconds, for those who take one away meanwhile.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>

namespace {

int sum(int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
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

  using clock = std::chrono::steady_clock;
  auto const end = clock::now() + std::chrono::seconds(argc > 1 ? std::stoi(argv[1]) : 0);
  // Rank 0 says whether to go on, so that all ranks sum as often.
  while (sum(rank == 0 && clock::now() < end) != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));

  MPI_Finalize();
  return all == ranks * (ranks - 1) / 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
