// SPDX-License-Identifier: Apache-2.0
// elastic [supervised]: a session that begins with a spare rank, and is grown and shrunk between
// runs and within them. Each rank says whether all answers were right, and whether tasks ran only
// where they should.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <nigh/isolate.hpp>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace {

namespace cluster = nigh::cluster;

cluster::session* here = nullptr;
constexpr int tasks = 100;

int where() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return here->rank();
}

// How many tasks ran on each rank.
std::vector<long> spread(int ranks) {
  std::vector<int> ran(tasks, -1);
  {
    cluster::task_scope scope;
    for (int i = 0; i < tasks; ++i) {
      if (i % 4 == 0)
        scope.spawn<where>(cluster::near(i % ranks), ran[static_cast<std::size_t>(i)]);
      else
        scope.spawn<where>(ran[static_cast<std::size_t>(i)]);
    }
    scope.wait();
  }
  std::vector<long> on(static_cast<std::size_t>(ranks));
  for (int const rank : ran) ++on[static_cast<std::size_t>(rank)];
  return on;
}

// Resizes the session from many of its tasks, on whichever rank they run.
long restless_fib(int n, int ranks) {
  if (n % 5 == 0) here->resize(1 + n / 5 % ranks);
  if (n < 2) return n;
  long left = 0;
  cluster::task_scope scope;
  scope.spawn<restless_fib>(left, n - 1, ranks);
  long const right = restless_fib(n - 2, ranks);
  scope.wait();
  return left + right;
}

long fib_nearby(int n, int ranks) {
  if (n < 2) return n;
  long left = 0, right = 0;
  cluster::task_scope scope;
  scope.spawn<fib_nearby>(left, n - 1, ranks);
  if (n % 4 == 0)
    scope.spawn<fib_nearby>(cluster::near(n / 4 % ranks), right, n - 2, ranks);
  else
    right = fib_nearby(n - 2, ranks);
  scope.wait();
  return left + right;
}

// With one worker in each rank, and tasks that are placed at one that takes none.
long isolated_fib(int n, int ranks) {
  return nigh::this_task_region::isolate([=] { return fib_nearby(n, ranks); });
}

// True: within a few runs, and in every case all tasks ran. A size may reach a rank as late as
// in the next run.
template <class Is>
bool comes_to(char const* what, Is is) {
  std::vector<long> on;
  for (int i = 0; i < 20; ++i) {
    on = cluster::run<spread>(here->ranks());
    if (std::accumulate(on.begin(), on.end(), 0L) != tasks) break;
    if (is(on)) return true;
  }
  std::printf("rank %d: %s:", here->rank(), what);
  for (long const n : on) std::printf(" %ld", n);
  std::printf("\n");
  return false;
}

bool refuses(int size) {
  try {
    here->resize(size);
  } catch (std::out_of_range const&) {
    return true;
  }
  std::printf("resize(%d) is possible\n", size);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  cluster::session_options options;
  options.spares = 1;
  options.workers.workers = 1;
  options.supervised = argc > 1 && std::string_view(argv[1]) == "supervised";
  cluster::session session(argc, argv, options);
  here = &session;
  int const ranks = session.ranks();
  bool right = refuses(0) && refuses(ranks + 1);

  auto const first = cluster::run<spread>(ranks);
  right = right && first.back() == 0 && std::accumulate(first.begin(), first.end(), 0L) == tasks;
  if (!right) std::printf("rank %d: %ld tasks on a spare rank\n", session.rank(), first.back());

  for (int i = 0; i < 5; ++i) right = cluster::run<isolated_fib>(14, ranks) == 377 && right;

  if (session.rank() == ranks - 1) session.resize(ranks);
  right = comes_to("grown", [](auto const& on) { return on.back() > 0; }) && right;
  if (session.rank() == 0) session.resize(1);
  right = comes_to("shrunk", [](auto const& on) { return on.front() == tasks; }) && right;
  right = cluster::run<restless_fib>(22, ranks) == 17711 && right;
  session.resize(ranks);
  right = comes_to("whole", [](auto const& on) { return on.back() > 0; }) && right;
  std::printf("rank %d: %s\n", session.rank(), right ? "right" : "wrong");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
