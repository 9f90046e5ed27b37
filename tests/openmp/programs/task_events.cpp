// SPDX-License-Identifier: Apache-2.0
// Where a thread that waits for tasks is itself the one that lets it go on, and where a thread has tasks while it
// ends. Each is a case with a name, which prints one line: task_events CASE.
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

std::atomic<omp_event_handle_t> signalled_event;
std::atomic<int> fulfilled{0};

extern "C" void fulfill_it(int) {
  ++fulfilled;
  omp_fulfill_event(signalled_event);
}

// The event of a detached task is fulfilled by a signal's handler, in the thread that waits for the task.
long in_a_handler() {
  struct sigaction action = {};
  action.sa_handler = fulfill_it;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  for (int who = 0; who < 2; ++who) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == who) {
      omp_event_handle_t event = {};
#pragma omp task detach(event)
      signalled_event = event;
#pragma omp task if (0)
      {
      }
      std::thread later([waits = pthread_self()] {
        usleep(50'000);
        pthread_kill(waits, SIGUSR1);
      });
#pragma omp taskwait
      later.join();
    }
  }
  return fulfilled;
}

// The body of a single construct fulfills the event of a task that its thread has made before.
long before_a_copy() {
  long sum = 0;
#pragma omp parallel num_threads(1) reduction(+ : sum)
  {
    int x = 0, done = 0;
    omp_event_handle_t event = {};
#pragma omp task detach(event)
    done = 1;
#pragma omp single copyprivate(x)
    {
      omp_fulfill_event(event);
      x = 6 + done;
    }
#pragma omp taskwait
    sum += x;
  }
  return sum;
}

// All get the value of one thread, in many such constructs after each other.
long copies() {
  long sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  for (int round = 0; round < 200; ++round) {
    int x = -1;
#pragma omp task
    {
    }
#pragma omp single copyprivate(x)
    x = round;
    sum += x;
  }
  return sum;
}

long fib(int n) {
  if (n < 2) return n;
  long left = 0, right = 0;
#pragma omp task shared(left)
  left = fib(n - 1);
#pragma omp task shared(right)
  right = fib(n - 2);
#pragma omp taskwait
  return left + right;
}

long fib_of_a_region(int n) {
  long result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  result = fib(n);
  return result;
}

std::atomic<int> wrong{0};

extern "C" void compute(void*) {
  for (int i = 0; i < 20; ++i) wrong += fib_of_a_region(12) != 144;
}

// A destructor of an ending thread has tasks, while others begin to have some.
long in_a_destructor() {
  pthread_key_t key;
  pthread_key_create(&key, compute);
  for (int round = 0; round < 20; ++round) {
    std::thread ends([&] {
      fib_of_a_region(5);
      pthread_setspecific(key, &key);
    });
    std::thread others[3];
    for (auto& other : others) other = std::thread([] { compute(nullptr); });
    ends.join();
    for (auto& other : others) other.join();
  }
  return wrong;
}

struct Case {
  char const* name;
  long (*run)();
};
constexpr Case cases[]{{"in_a_handler", in_a_handler},
                       {"before_a_copy", before_a_copy},
                       {"copies", copies},
                       {"in_a_destructor", in_a_destructor}};

}  // namespace

int main(int count, char** words) {
  for (Case const& c : cases)
    if (count > 1 && strcmp(words[1], c.name) == 0) std::printf("%s %ld\n", c.name, c.run());
}
