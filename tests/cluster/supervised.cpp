// SPDX-License-Identifier: Apache-2.0
// A program that asks for supervised tasks, also of an MPI that lets no rank go on without another.

#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>

#include "fib.hpp"

// supervised [SESSIONS]: one after another, each with several runs.
int main(int argc, char** argv) {
  int const sessions = argc > 1 ? std::atoi(argv[1]) : 1;
  long result = 0;
  for (int s = 0; s < sessions; ++s) {
    nigh::cluster::session_options options;
    options.supervised = true;
    nigh::cluster::session here(argc, argv, options);
    for (int i = 0; i < 10; ++i) {
      result = nigh::cluster::run<fib>(20);
      if (result != 6765) return EXIT_FAILURE;
    }
    if (here.rank() == 0) std::fprintf(stderr, "fib(20) = %ld\n", result);
  }
  return EXIT_SUCCESS;
}
