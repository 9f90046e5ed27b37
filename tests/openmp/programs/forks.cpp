// SPDX-License-Identifier: Apache-2.0
// forks before: a child that begins regions before its parent has. forks after: one whose parent
// had a team (libomp begins afresh there; libgomp allows one thread only).

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

void region(char const* who, int threads) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads)
  for (int i = 0; i < 100; ++i) sum += i;
  std::printf("%s %ld\n", who, sum);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  bool const after = count > 1 && std::strcmp(words[1], "after") == 0;
  int const in_child = count > 2 ? 1 : 2;
  if (after) region("parent", 2);
  pid_t const child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; ++i) region("child", in_child);
    _exit(0);
  }
  int status = 1;
  waitpid(child, &status, 0);
  region("parent", 2);
  return status;
}
