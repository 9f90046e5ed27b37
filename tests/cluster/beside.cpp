// SPDX-License-Identifier: Apache-2.0
// Cluster tasks that belong to no run: those of a thread that uses a session's workers all the
// time, within runs and between them, and those of a detached task that outlasts its run. They stay
// on their rank, and have the right results.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <nigh/runtime.hpp>
#include <thread>

#include "fib.hpp"

namespace {

namespace cluster = nigh::cluster;

nigh::runtime* workers = nullptr;
std::atomic<int> detached{0}, wrong{0};

void leave_one_behind() {
  ++detached;
  workers->spawn([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the run ends before, as a rule
    wrong += fib(18) != 2584;
    --detached;
  });
}

long root(int n) {
  cluster::task_scope scope;
  for (int i = 0; i < 4; ++i) scope.spawn<leave_one_behind>();
  long const f = fib(n);
  scope.wait();
  return f;
}

}  // namespace

int main(int argc, char** argv) {
  cluster::session here(argc, argv);
  workers = &here.workers();
  std::atomic<bool> is_over{false};
  std::thread beside([&] {
    while (!is_over) {
      wrong += here.workers().invoke([] { return fib(16); }) != 987;
      wrong += here.workers().run([] { return fib(14); }) != 377;
    }
  });
  for (int run = 0; run < 200; ++run) {
    wrong += cluster::run<root>(15) != 610;
    if (run % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  is_over = true;
  beside.join();
  here.workers().wait();
  if (wrong != 0 || detached != 0)
    std::fprintf(stderr, "rank %d: %d wrong, %d have not ended\n", here.rank(), wrong.load(),
                 detached.load());
  return wrong == 0 && detached == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
