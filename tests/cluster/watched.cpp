// SPDX-License-Identifier: Apache-2.0
// Ranks that watch each other, and are busy inside MPI all the time: they sum for ever. With an
// argument, for so many sums.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "cluster/watch/watch.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto watch = nigh::cluster::Watch::start(rank, ranks, [&](std::span<std::byte const> mine) {
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(ranks));
    int const size = static_cast<int>(mine.size());
    MPI_Allgather(mine.data(), size, MPI_BYTE, all.data(), size, MPI_BYTE, MPI_COMM_WORLD);
    return all;
  });
  if (!watch) {
    std::fprintf(stderr, "%s\n", watch.message().c_str());
    return 2;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::printf("rank %d is at work\n", rank);
  std::fflush(stdout);
  long const sums = argc > 1 ? std::atol(argv[1]) : -1;
  for (long i = 0; i != sums; ++i) {
    int all = 0;
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  (*watch)->leave();
}
