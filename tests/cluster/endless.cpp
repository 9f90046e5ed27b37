// SPDX-License-Identifier: Apache-2.0
// Ranks that run tasks together for ever, for those who do something to one meanwhile. With "mpi",
// they go on inside MPI, without tasks.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <nigh/cluster.hpp>

#include "fib.hpp"

int main(int argc, char** argv) {
  nigh::cluster::session here(argc, argv);
  nigh::cluster::run<fib>(10);
  std::printf("rank %d is at work\n", here.rank());
  std::fflush(stdout);
  if (argc > 1 && std::strcmp(argv[1], "mpi") == 0) {
    nigh::cluster::mpi_section const own;
    for (;;) MPI_Barrier(MPI_COMM_WORLD);
  }
  for (;;) nigh::cluster::run<fib>(25);
}
