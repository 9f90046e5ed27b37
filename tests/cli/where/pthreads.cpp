// SPDX-License-Identifier: Apache-2.0
// where-pthreads N: the main thread and N more, all alive at once, tell where they may run; then a
// child after fork() does, with a thread of its own.

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "mask.hpp"

namespace {

pthread_barrier_t all_here;

void* tell(void* into) {
  *static_cast<std::string*>(into) = allowed_cpus();
  pthread_barrier_wait(&all_here);
  return nullptr;
}

void* tell_alone(void* into) {
  *static_cast<std::string*>(into) = allowed_cpus();
  return nullptr;
}

// How many cpus the calling thread is shown, in three ways.
std::string shown() {
  std::string text;
  for (int way = 0; way < 3; ++way) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (way == 0) sched_getaffinity(0, sizeof cpus, &cpus);
    if (way == 1) pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
    if (way == 2 && syscall(SYS_sched_getaffinity, getpid(), sizeof cpus, &cpus) < 0) return "none";
    text += " " + std::to_string(CPU_COUNT(&cpus));
  }
  return text;
}

void* tell_shown(void* into) {
  *static_cast<std::string*>(into) = shown();
  return nullptr;
}

// After it has set them itself to those that it has.
std::string shown_of_own_choice() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(std::atoi(allowed_cpus().c_str())), &cpus);
  return sched_setaffinity(0, sizeof cpus, &cpus) == 0 ? shown() : " none";
}

}  // namespace

int main(int argc, char** argv) {
  auto const count = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 1);
  std::printf("before %s\n", allowed_cpus().c_str());
  pthread_barrier_init(&all_here, nullptr, static_cast<unsigned>(count) + 1);
  std::vector<std::string> masks(count);
  std::vector<pthread_t> threads(count);
  for (std::size_t i = 0; i < count; ++i)
    if (pthread_create(&threads[i], nullptr, tell, &masks[i]) != 0) return 1;
  pthread_barrier_wait(&all_here);
  for (auto const thread : threads) pthread_join(thread, nullptr);
  std::printf("thread 0 %s\n", allowed_cpus().c_str());
  for (std::size_t i = 0; i < count; ++i) std::printf("thread %zu %s\n", i + 1, masks[i].c_str());
  std::fflush(stdout);
  if (fork() == 0) {
    std::string mask;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, tell_alone, &mask) != 0) _exit(1);
    pthread_join(thread, nullptr);
    std::printf("child %s and %s\n", allowed_cpus().c_str(), mask.c_str());
    std::fflush(stdout);
    _exit(0);
  }
  wait(nullptr);
  std::string shown_to_thread;
  if (pthread_create(&threads[0], nullptr, tell_shown, &shown_to_thread) != 0) return 1;
  pthread_join(threads[0], nullptr);
  std::printf("shown%s, to a thread%s", shown().c_str(), shown_to_thread.c_str());
  std::printf(", of its own%s\n", shown_of_own_choice().c_str());
}
