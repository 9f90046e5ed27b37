// SPDX-License-Identifier: Apache-2.0
// children COUNT [after | beside]: so many children, all at once, begin regions, wait until all
// have, and begin more. after: their parent has had a region before, which gcc's runtime does not
// survive (libomp begins afresh in a child). beside: another thread of the parent begins regions
// all the time, and children come one after the other (which libomp does not always survive). Each
// says how many regions it has had.
//
// children MEMBER inside [returns]: this member of a region forks a child, which begins regions
// there. returns: it also leaves that region, and begins more. That only works in a team of one.

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

int regions(int count) {
  int right = 0;
  for (int i = 0; i < count; ++i) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int k = 0; k < 1000; ++k) sum += k;
    right += sum == 499500;
  }
  return right;
}

struct Pipe {
  int ends[2];
  Pipe() {
    if (pipe(ends) != 0) std::abort();
  }
  void tell() { static_cast<void>(write(ends[1], "x", 1) == 1); }
  void hear() {
    char byte;
    static_cast<void>(read(ends[0], &byte, 1) == 1);
  }
};

int wait_for(pid_t child) {
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

void all_at_once(int count) {
  Pipe ready, go;
  std::vector<pid_t> children;
  for (int i = 0; i < count; ++i) {
    pid_t const child = fork();
    if (child == 0) {
      int right = regions(5);
      ready.tell();
      go.hear();
      right += regions(5);
      std::exit(right);
    }
    children.push_back(child);
  }
  for (int i = 0; i < count; ++i) ready.hear();
  for (int i = 0; i < count; ++i) go.tell();
  for (pid_t const child : children) std::printf("child %d\n", wait_for(child));
}

void one_by_one(int count) {
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends.load()) regions(10);
  });
  for (int i = 0; i < count; ++i) {
    pid_t const child = fork();
    if (child == 0) _exit(regions(10));
    std::printf("child %d\n", wait_for(child));
  }
  ends.store(true);
  other.join();
}

void fork_inside(int member, bool returns) {
  pid_t child = -1;
  int right = 0;
#pragma omp parallel
  if (omp_get_thread_num() == member) {
    child = fork();
    if (child == 0) {
      right = regions(5);
      if (!returns) std::exit(right);
    } else {
      std::printf("child %d\n", wait_for(child));
      std::fflush(stdout);
    }
  }
  if (child == 0) std::exit(right + regions(5));
}

}  // namespace

int main(int count, char** words) {
  int const children = count > 1 ? std::atoi(words[1]) : 3;
  std::string const how = count > 2 ? words[2] : "";
  if (how == "after") regions(5);
  if (how == "beside")
    one_by_one(children);
  else if (how == "inside")
    fork_inside(children, count > 3);
  else
    all_at_once(children);
  if (how != "beside") std::printf("parent %d\n", regions(5));
  std::fflush(stdout);
}
