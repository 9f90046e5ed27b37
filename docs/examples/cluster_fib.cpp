// SPDX-License-Identifier: Apache-2.0
// Fibonacci numbers by the workers of all ranks: `mpirun -n 2 cluster_fib 35`.
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>

long fib(int n) {
  if (n < 2) return n;
  long left;
  nigh::cluster::task_scope scope;
  scope.spawn<fib>(left, n - 1);  // for any worker without work, on any rank
  long const right = fib(n - 2);
  scope.wait();
  return left + right;
}

int main(int argc, char** argv) {
  nigh::cluster::session here(argc, argv);
  int const n = argc > 1 ? std::atoi(argv[1]) : 30;
  long const result = nigh::cluster::run<fib>(n);
  auto const counts = here.counters();
  std::printf("rank %d of %d: fib(%d) = %ld, %lu tasks came, %lu went\n", here.rank(), here.ranks(),
              n, result, static_cast<unsigned long>(counts.tasks_stolen),
              static_cast<unsigned long>(counts.tasks_given));
}
