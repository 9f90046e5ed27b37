// SPDX-License-Identifier: Apache-2.0
// A program that asks for supervised tasks, of an MPI that lets no rank go on without another.

#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>

namespace {

long fib(int n) {
  if (n < 2) return n;
  long left;
  nigh::cluster::task_scope scope;
  scope.spawn<fib>(left, n - 1);
  long const right = fib(n - 2);
  scope.wait();
  return left + right;
}

}  // namespace

int main(int argc, char** argv) {
  nigh::cluster::session_options options;
  options.supervised = true;
  nigh::cluster::session here(argc, argv, options);
  long const result = nigh::cluster::run<fib>(20);
  if (here.rank() == 0) std::fprintf(stderr, "fib(20) = %ld\n", result);
  return result == 6765 ? EXIT_SUCCESS : EXIT_FAILURE;
}
