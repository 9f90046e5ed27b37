// SPDX-License-Identifier: Apache-2.0
// Ranks that run tasks together for ever, for those who do something to one meanwhile. With "mpi",
// they go on inside MPI, without tasks; with "rests", in tasks that sleep; with "supervised", they
// ask for what not every MPI can do.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <nigh/cluster.hpp>
#include <thread>

#include "fib.hpp"

namespace {

int rest() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto const has_word = [&](char const* word) {
    return argc > 1 && std::strcmp(argv[1], word) == 0;
  };
  nigh::cluster::session_options options;
  options.supervised = has_word("supervised");
  nigh::cluster::session here(argc, argv, options);
  nigh::cluster::run<fib>(10);
  std::printf("rank %d is at work\n", here.rank());
  std::fflush(stdout);
  if (has_word("mpi")) {
    nigh::cluster::mpi_section const own;
    for (;;) MPI_Barrier(MPI_COMM_WORLD);
  }
  while (has_word("rests")) nigh::cluster::run<rest>();
  for (;;) nigh::cluster::run<fib>(25);
}
