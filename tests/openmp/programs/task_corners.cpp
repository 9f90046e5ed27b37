// SPDX-License-Identifier: Apache-2.0
// More of task_rules.cpp: threads that end their own waits, tasks of a thread that ends, and much of something. Each is a
// case with a name, which prints one line: task_corners CASE.
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

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

// A loop whose last step goes beyond the largest number, or below the smallest: one iteration a task.
long wrapping_steps() {
  std::atomic<long> runs{0};
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskloop grainsize(1)
    for (unsigned long i = 100; i > 2; i -= 30) {
      if (++runs > 1000) _exit(1);
    }
#pragma omp taskloop grainsize(1)
    for (unsigned i = UINT_MAX - 100; i < UINT_MAX - 2; i += 30) {
      if (++runs > 1000) _exit(1);
    }
#pragma omp taskloop grainsize(1)
    for (long i = LONG_MAX - 100; i < LONG_MAX - 2; i += 30) {
      if (++runs > 1000) _exit(1);
    }
  }
  return runs;
}

// Many tasks that wait, each with an array on its thread's stack, until another thread fulfills all their events.
constexpr int waiting_tasks = 600;
omp_event_handle_t events[waiting_tasks];
std::atomic<int> known{0};

long deep_waits() {
  std::thread fulfills([] {
    for (int done = 0; done < waiting_tasks;) {
      int before = known;
      for (usleep(2'000); known != before; usleep(2'000)) before = known;
      for (; done < before; ++done) omp_fulfill_event(events[done]);
    }
  });
  std::atomic<long> sum{0};
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < waiting_tasks; ++i) {
#pragma omp task untied firstprivate(i) shared(sum)
    {
      char array[65536];
      memset(array, i, sizeof array);
      omp_event_handle_t event = {};
#pragma omp task detach(event) shared(sum)
      ++sum;
#pragma omp critical
      {
        events[known] = event;
        ++known;
      }
#pragma omp taskwait
      sum += static_cast<unsigned char>(array[i]);
    }
  }
  fulfills.join();
  return sum;
}

// The thread that has made tasks waits for them by means of its own: few after a recursion, and many.
long away() {
  std::atomic<long> sum{0};
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int const many : {8, 100, 3000}) {
    long const before = sum += fib(12);
    for (int i = 0; i < many; ++i) {
#pragma omp task shared(sum)
      ++sum;
    }
    while (sum != before + many) usleep(100);
  }
  return sum;
}

// The same when the others have come to the loop's end, or the region's, before there is any task.
long sum_of_loop = 0;
void late_tasks(int many, bool in_a_loop, std::atomic<long>& sum) {
  auto const make = [&] {
    usleep(2000);
    long const before = sum;
    for (int i = 0; i < many; ++i) {
#pragma omp task shared(sum)
      ++sum;
    }
    while (sum != before + many) usleep(100);
  };
#pragma omp parallel num_threads(5)
  {
    if (in_a_loop) {
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 5; ++i)
        if (i == 4) make();
#pragma omp for reduction(+ : sum_of_loop)
      for (int i = 0; i < 5; ++i) sum_of_loop += i;
    } else if (omp_get_thread_num() == 3) {
      make();
    }
  }
}
long late() {
  std::atomic<long> sum{0};
  for (bool const in_a_loop : {true, false})
    for (int const many : {0, 8, 0, 3000}) late_tasks(many, in_a_loop, sum);
  return sum;
}

// Regions of many codes, for each has its first tasks only once: the others are at the region's end, or
// are still on their way out of a loop.
template <int n>
long first_behind_a_loop() {
  std::atomic<long> sum{0};
#pragma omp parallel num_threads(4)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 16; ++i) sum += i;
    if (omp_get_thread_num() == n % 4) {
      usleep(n % 3 * 50);
      for (int i = 0; i < 4; ++i) {
#pragma omp task shared(sum)
        ++sum;
      }
    }
  }
  return sum;
}
template <int n>
long first_in_a_reduction() {
  long sum = 0;
#pragma omp parallel num_threads(4) shared(sum)
  if (omp_get_thread_num() == n % 4) {
    usleep(1000);
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
  }
  return sum;
}
template <int... n>
long first_of_many(std::integer_sequence<int, n...> /*unused*/) {
  return (... + first_behind_a_loop<n>()) + (... + first_in_a_reduction<n>());
}
long first_tasks() { return first_of_many(std::make_integer_sequence<int, 50>()); }

// A thread has other settings when it makes the first task, which has a third thread come back: that one's tasks of the
// second do not have them. How many do.
long settings_of_the_first() {
  std::atomic<int> wrong{0}, at{0};
#pragma omp parallel num_threads(3)
  {
    auto const await = [&at](int what) {
      while (at != what) usleep(100);
    };
    if (omp_get_thread_num() == 2) at = 1;
    if (omp_get_thread_num() == 0) {
      await(1);
      usleep(2000);
      omp_set_num_threads(5);
      omp_set_schedule(omp_sched_guided, 9);
#pragma omp task
      usleep(100);
      at = 2;
    }
    if (omp_get_thread_num() == 1) {
      await(2);
      for (int i = 0; i < 50; ++i) {
#pragma omp task shared(wrong)
        {
          omp_sched_t kind;
          int chunk;
          omp_get_schedule(&kind, &chunk);
          if (omp_get_max_threads() == 5 || chunk == 9) ++wrong;
          usleep(100);
        }
      }
    }
  }
  return wrong;
}

struct Large {
  char bytes[256 * 1024];
};

// Tasks with large arguments, slower than the thread that makes them: 1 if their memory stays below 200 MB.
long large_arguments() {
  static Large large;
  long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 1000; ++i) {
    memset(large.bytes, i % 7, sizeof large.bytes);
    Large const mine = large;
#pragma omp task firstprivate(mine) shared(sum)
    {
      usleep(1000);
#pragma omp atomic
      sum += mine.bytes[sizeof mine.bytes - 1] + mine.bytes[0];
    }
  }
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return 10 * sum + (used.ru_maxrss < 200 * 1024);
}

// Small tasks with arguments of 10 kB, more than the threads can take: 1 if their memory stays below
// 60 MB.
long many_arguments() {
  struct {
    char bytes[10'000];
  } mine = {};
  mine.bytes[sizeof mine.bytes - 1] = 1;
  long sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 50'000; ++i) {
#pragma omp task firstprivate(mine) shared(sum)
    {
#pragma omp atomic
      sum += mine.bytes[sizeof mine.bytes - 1];
    }
  }
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return 10 * sum + (used.ru_maxrss < 60 * 1024);
}

#ifdef __clang__
// An undeferred task has ended when its event has come: the events of its own tasks may come later.
long undeferred_with_a_task() {
  static omp_event_handle_t later;
  long result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_event_handle_t event = {};
#pragma omp task if (0) detach(event) shared(result)
    {
      omp_fulfill_event(event);
      omp_event_handle_t inner = {};
#pragma omp task detach(inner) shared(result)
#pragma omp atomic
      ++result;
      later = inner;
    }
    omp_fulfill_event(later);
#pragma omp taskwait
    result += 10;
  }
  return result;
}
#endif

struct Case {
  char const* name;
  long (*run)();
};
constexpr Case cases[]{{"in_a_handler", in_a_handler},
                       {"before_a_copy", before_a_copy},
                       {"copies", copies},
                       {"in_a_destructor", in_a_destructor},
                       {"wrapping_steps", wrapping_steps},
                       {"deep_waits", deep_waits},
                       {"away", away},
                       {"late", late},
                       {"first_tasks", first_tasks},
                       {"settings_of_the_first", settings_of_the_first},
#ifdef __clang__
                       {"undeferred_with_a_task", undeferred_with_a_task},
#endif
                       {"large_arguments", large_arguments},
                       {"many_arguments", many_arguments}};

}  // namespace

int main(int count, char** words) {
  for (Case const& c : cases)
    if (count > 1 && strcmp(words[1], c.name) == 0) std::printf("%s %ld\n", c.name, c.run());
}
