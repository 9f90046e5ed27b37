// SPDX-License-Identifier: Apache-2.0
// where-pthreads N: the main thread and N more, all alive at once, tell where they may run; then a
// child after fork() does, with a thread of its own.

#include <pthread.h>
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
}
