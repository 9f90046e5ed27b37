// SPDX-License-Identifier: Apache-2.0
// teams COUNT: so many regions; of each, where its threads may run: "2: 0 1". Then the thread that
// began them, what a program it starts may use, and what a thread it makes.
// teams COUNT CLAUSE away|back: first binds itself to its last cpu, and goes back to all of them.

#include <omp.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "allowed.hpp"

namespace {

void bind_to_last_cpu(bool and_back) {
  cpu_set_t all, last;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&last);
  for (std::size_t c = CPU_SETSIZE; c-- > 0 && CPU_COUNT(&last) == 0;)
    if (CPU_ISSET(c, &all)) CPU_SET(c, &last);
  sched_setaffinity(0, sizeof last, &last);
  if (and_back) sched_setaffinity(0, sizeof all, &all);
}

void region(int clause) {
  std::vector<std::string> where(64);
  int threads = 0;
  auto const body = [&] {
    where[static_cast<std::size_t>(omp_get_thread_num())] = allowed();
#pragma omp single
    threads = omp_get_num_threads();
  };
  if (clause > 0) {
#pragma omp parallel num_threads(clause)
    body();
  } else {
#pragma omp parallel
    body();
  }
  std::printf("%d:", threads);
  for (int k = 0; k < threads; ++k) std::printf(" %s", where[static_cast<std::size_t>(k)].c_str());
  std::printf("\n");
}

}  // namespace

int main(int count, char** words) {
  int const regions = count > 1 ? std::atoi(words[1]) : 1;
  int const clause = count > 2 ? std::atoi(words[2]) : 0;
  if (count > 3) bind_to_last_cpu(std::string(words[3]) == "back");
  for (int i = 0; i < regions; ++i) region(clause);
  std::printf("processors %d\n", omp_get_num_procs());
  std::thread([] { std::printf("thread %s\n", allowed().c_str()); }).join();
  std::fflush(stdout);
  if (std::system("grep Cpus_allowed_list /proc/self/status") != 0) return 1;
  pid_t const child = fork();
  if (child == 0) {
    std::printf("child %s\n", allowed().c_str());
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}
