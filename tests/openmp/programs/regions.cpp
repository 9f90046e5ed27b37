// SPDX-License-Identifier: Apache-2.0
// regions [COUNT] [HOW [WORD...]]: a region that the more threads the sooner is done, one that is
// not, one with a clause, and nested ones, so many times each (3). Then it ends: HOW is return,
// fail (status 7, and says so), leave (_exit), become (the program WORD...), wait (for its input to
// end, in a region).

#include <omp.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

// Asleep, so that it takes as long whoever else is busy.
void take(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

void scaling() {
#pragma omp parallel
  take(4.0 / omp_get_num_threads());
}

void flat() {
#pragma omp parallel
  take(1);
}

void clause() {
#pragma omp parallel num_threads(3)
  take(0.1);
}

void nested() {
#pragma omp parallel
#pragma omp parallel
  take(0.1);
}

void waiting() {
#pragma omp parallel
#pragma omp master
  while (std::getchar() != EOF) {
  }
}

}  // namespace

int main(int count, char** words) {
  int const times = count > 1 ? std::atoi(words[1]) : 3;
  std::string const how = count > 2 ? words[2] : "return";
  std::puts("regions begin");
  for (int i = 0; i < times; ++i) scaling(), flat(), clause(), nested();
  std::puts("regions end");
  std::fflush(stdout);
  if (how == "fail") {
    std::fputs("nothing is good enough\n", stderr);
    return 7;
  }
  if (how == "leave") _exit(0);
  if (how == "become") execvp(words[3], words + 3);
  if (how == "wait") waiting();
  return 0;
}
