// SPDX-License-Identifier: Apache-2.0
// A program that asks for supervised tasks, of an MPI that lets no rank go on without another.

#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>

#include "fib.hpp"

int main(int argc, char** argv) {
  nigh::cluster::session_options options;
  options.supervised = true;
  nigh::cluster::session here(argc, argv, options);
  long const result = nigh::cluster::run<fib>(20);
  if (here.rank() == 0) std::fprintf(stderr, "fib(20) = %ld\n", result);
  return result == 6765 ? EXIT_SUCCESS : EXIT_FAILURE;
}
