// SPDX-License-Identifier: Apache-2.0
// races NAME: a program with a race, which ThreadSanitizer has to find. Without a name, their names.
#include <cstdio>
#include <cstring>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <vector>

#include "features.hpp"

namespace {

using user::meeting;

// Both halves write one variable.
int in_fork_join() {
  int shared = 0;
  meeting both;
  nigh::fork_join(
      [&] {
        both.await(1);
        ++shared;
      },
      [&] {
        both.come();
        ++shared;
      });
  return shared;
}

// The spawner does not wait before it reads.
int before_wait() {
  int shared = 0;
  meeting begun;
  nigh::task_scope scope;
  scope.spawn([&] {
    shared = 1;
    begun.come();
  });
  begun.await(1);
  int const read = shared;
  scope.wait();
  return read;
}

// Iterations add to one variable.
int in_a_loop() {
  long sum = 0;
  meeting some;
  nigh::parallel_for(
      0, 1000,
      [&](int i) {
        if (i <= 1) {  // they wait for each other, so two threads have them
          some.come();
          some.await(2);
        }
        sum += i;
      },
      nigh::dynamic_schedule());
  return static_cast<int>(sum);
}

// An iteration reads what its neighbour writes.
int neighbours() {
  std::vector<long> v(1000);  // ThreadSanitizer knows the last few accesses to each 8 bytes
  meeting some;
  nigh::parallel_for(
      std::size_t{1}, v.size(),
      [&](std::size_t i) {
        if (i <= 2) {
          some.come();
          some.await(2);
        }
        v[i] = v[i - 1] + 1;
      },
      nigh::dynamic_schedule());
  return static_cast<int>(v[999]);
}

// Two tasks of a queue.
int between_queued_tasks() {
  int shared = 0;
  meeting both;
  nigh::runtime pool;
  auto const task = [&] {
    both.come();
    both.await(2);
    ++shared;
  };
  nigh::task_scope scope;
  pool.spawn(task);
  both.await(1);
  ++shared;
  both.come();
  pool.wait();
  return shared;
}

struct {
  char const* name;
  int (*run)();
} const all[] = {{"in_fork_join", in_fork_join},
                 {"before_wait", before_wait},
                 {"in_a_loop", in_a_loop},
                 {"neighbours", neighbours},
                 {"between_queued_tasks", between_queued_tasks}};

}  // namespace

int main(int argc, char** argv) {
  for (auto const& race : all) {
    if (argc < 2)
      std::puts(race.name);
    else if (std::strcmp(argv[1], race.name) == 0)
      std::printf("%s: %d\n", race.name, race.run());
  }
}
