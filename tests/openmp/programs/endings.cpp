// SPDX-License-Identifier: Apache-2.0
// Threads that are cancelled, or begin regions while they end.
//
//   endings pending               a cancel is pending when a thread begins its first region
//   endings waiting               threads are cancelled while they begin regions, again and again
//   endings hold                  a region that lasts until standard input ends; says when it has begun
//   endings destructors [twice]   regions in destructors of thread-specific data; twice: in two
//                                 rounds of them, which clang's runtime does not survive

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

int region() {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  members += 1;
  return members;
}

pthread_t begin(void* (*body)(void*), void* argument) {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, body, argument) != 0) std::abort();
  return thread;
}

bool was_cancelled(pthread_t thread) {
  void* result = nullptr;
  pthread_join(thread, &result);
  return result == PTHREAD_CANCELED;
}

std::atomic<bool> is_cancelled{false}, has_run{false};

void* begin_cancelled(void*) {
  while (!is_cancelled.load()) {
  }
  std::atomic<int> members{0};
#pragma omp parallel
  ++members;
  has_run.store(members.load() > 0);
  pthread_testcancel();
  return nullptr;
}

void pending() {
#pragma omp parallel num_threads(1)  // clang's runtime begins here, where it could be cancelled
  ;
  pthread_t const thread = begin(begin_cancelled, nullptr);
  pthread_cancel(thread);
  is_cancelled.store(true);
  bool const at_the_end = was_cancelled(thread) && has_run.load();
  std::printf("cancelled after its region %d\n", at_the_end);
  std::printf("another region %d\n", region() > 0);
}

void* begin_on_and_on(void*) {
  for (;;) {
    region();
    pthread_testcancel();
  }
}

void waiting() {
  int cancelled = 0;
  for (int i = 0; i < 20; ++i) {
    pthread_t const thread = begin(begin_on_and_on, nullptr);
    usleep(static_cast<useconds_t>(10'000 + 7'000 * (i % 10)));
    pthread_cancel(thread);
    cancelled += was_cancelled(thread);
  }
  std::printf("cancelled %d\n", cancelled);
}

void hold() {
#pragma omp parallel
  {
#pragma omp master
    {
      std::printf("holds\n");
      std::fflush(stdout);
      char byte;
      while (read(0, &byte, 1) > 0) {
      }
    }
  }
}

pthread_key_t key;
bool is_twice = false;
std::atomic<int> right{0};

void destroy(void* times) {
  right += region() > 0;
  static int const last = 0;
  if (is_twice && times != &last) pthread_setspecific(key, &last);
}

void* begin_and_end(void*) {
  static int const first = 1;
  pthread_setspecific(key, &first);
  for (int i = 0; i < 20; ++i) region();
  return nullptr;
}

// More threads than a program can have leases at a time.
void destructors() {
  pthread_key_create(&key, destroy);
  for (int i = 0; i < 40; ++i) {
    std::vector<pthread_t> threads;
    for (int k = 0; k < 4; ++k) threads.push_back(begin(begin_and_end, nullptr));
    for (pthread_t const thread : threads) pthread_join(thread, nullptr);
  }
  std::printf("regions in destructors %d\n", right.load());
}

}  // namespace

int main(int count, char** words) {
  std::string const how = count > 1 ? words[1] : "";
  if (how == "pending") pending();
  if (how == "waiting") waiting();
  if (how == "hold") hold();
  is_twice = count > 2;
  if (how == "destructors") destructors();
}
