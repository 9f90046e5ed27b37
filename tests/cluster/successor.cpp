// SPDX-License-Identifier: Apache-2.0
// successor RANK: supervised ranks with one spare. That rank kills itself in the midst of a run;
// the others say whether the answer was right, and the spare one when it began its first task.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <thread>
#include <vector>

namespace {

namespace cluster = nigh::cluster;
using std::chrono::milliseconds;

cluster::session* here = nullptr;
int to_die = -1;
std::atomic<long> first_task_us{0};
constexpr int rounds = 30, tasks = 50;

// On the clock that the ranks of a host share.
long now_us() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

long work(int round) {
  long none = 0;
  first_task_us.compare_exchange_strong(none, now_us());
  std::this_thread::sleep_for(milliseconds(2));
  if (here->rank() == to_die && round == rounds / 3) {
    std::printf("rank %d ends at %ld us\n", to_die, now_us());
    std::fflush(stdout);
    std::raise(SIGKILL);
  }
  return round;
}

long all_work() {
  long sum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<long> of(tasks);
    cluster::task_scope scope;
    for (auto& one : of) scope.spawn<work>(one, round);
    scope.wait();
    for (long const one : of) sum += one;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) to_die = std::atoi(argv[1]);
  cluster::session_options options;
  options.supervised = true;
  options.spares = 1;
  cluster::session session(argc, argv, options);
  here = &session;
  bool const right = cluster::run<all_work>() == long{tasks} * rounds * (rounds - 1) / 2;
  std::printf("rank %d: %s\n", session.rank(), right ? "right" : "wrong");
  if (session.rank() == session.ranks() - 1)
    std::printf("rank %d begins at %ld us\n", session.rank(), first_task_us.load());
  std::fflush(stdout);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
