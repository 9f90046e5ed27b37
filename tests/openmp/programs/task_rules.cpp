// SPDX-License-Identifier: Apache-2.0
// Rules of OpenMP's tasks that a scheduler breaks easily. Each is a case with a name, which prints
// one line: task_rules CASE.
#include <dlfcn.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

namespace {

// A taskloop's tasks inherit a setting that the task around it has made.
long loop_of_a_task_with_settings() {
  std::atomic<long> sum{0};
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task shared(sum)
  {
    omp_set_num_threads(3);
#pragma omp taskloop shared(sum)
    for (int i = 0; i < 10; ++i) sum += i * omp_get_max_threads();
#pragma omp taskloop if (0) shared(sum)
    for (int i = 0; i < 10; ++i) sum += i * omp_get_max_threads();
  }
  return sum;
}

long peak_mb() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}

// Addresses that no task will name again cost nothing for long: how many MB for 500,000 of them, in
// hundreds.
long fresh_addresses() {
  [[maybe_unused]] static char places[500'000];
  long sum = 0, before = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 500'000; ++i) {
    if (i == 20'000) before = peak_mb();
#pragma omp task depend(out : places[i]) shared(sum)
#pragma omp atomic
    ++sum;
    if (i % 1000 == 999) {
#pragma omp taskwait
    }
  }
  return sum + (peak_mb() - before) / 100;
}

// A task that fulfills an event, and then waits, may not run the tasks that the event lets go: they
// do not descend from it, and may wait for what it does next.
long events_of_a_task_that_waits() {
  static std::atomic<int> first{0}, second{0}, is_over{0};
  static omp_event_handle_t first_event, second_event;
  [[maybe_unused]] static int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
      while (first == 0) usleep(100);
      usleep(20000);
      omp_fulfill_event(first_event);
      while (is_over == 0) {
        if (second == 1) {
          second = 2;
          omp_fulfill_event(second_event);
        }
#pragma omp taskyield
        usleep(100);
      }
    }
    usleep(20000);
    omp_event_handle_t event;
#pragma omp task depend(out : x) detach(event)
    {
      first_event = event;
      first = 1;
    }
#pragma omp task depend(in : x)
    {
      omp_event_handle_t inner;
#pragma omp task detach(inner)
      {
        second_event = inner;
        second = 1;
      }
#pragma omp taskwait
      is_over = 1;
    }
#pragma omp taskwait
  }
  return is_over;
}

// A thread that is late to leave a barrier may find tasks of those that have left it, which belong
// to a loop that it has not begun.
long late_at_a_barrier() {
  long x = 0;
#pragma omp parallel num_threads(4)
  for (int round = 0; round < 8000; ++round) {
#pragma omp barrier
#pragma omp for schedule(static, 1) reduction(task, + : x)
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 10; ++k) {
#pragma omp task in_reduction(+ : x)
        x++;
      }
    }
  }
  return x;
}

// As many tasks as threads, which wait for each other: none may stay behind one that runs.
long tasks_that_meet() {
  static std::atomic<int> running;
  long met = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int round = 0; round < 20; ++round) {
    running = 0;
    for (int i = 0; i < 4; ++i) {
#pragma omp task shared(met)
      {
        ++running;
        for (int k = 0; k < 3000 && running < 4; ++k) usleep(1000);
        if (running == 4) {
#pragma omp atomic
          ++met;
        }
      }
    }
#pragma omp taskwait
  }
  return met;
}

// A task's default device is its own.
long device_of_a_task() {
  int const before = omp_get_default_device();
  int within = 0, after = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task shared(within)
    {
      omp_set_default_device(before + 3);
#pragma omp task shared(within)
      within = omp_get_default_device() - before;
#pragma omp taskwait
    }
#pragma omp taskwait
    after = omp_get_default_device() - before;
  }
  return 10L * within + after;
}

// Settings that a thread makes outside of explicit tasks go to its tasks, wherever they run.
long settings_of_an_implicit_task() {
  std::atomic<long> wrong{0};
  static std::atomic<int> running{0};
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    {
      omp_set_num_threads(7);
      for (int i = 0; i < 2; ++i) {
#pragma omp task shared(wrong)
        {
          ++running;
          for (int k = 0; k < 2000 && running < 2; ++k) usleep(1000);  // on both threads
          if (omp_get_max_threads() != 7) ++wrong;
#pragma omp task shared(wrong)
          if (omp_get_max_threads() != 7) ++wrong;
        }
      }
    }
    if (omp_get_max_threads() == 7) wrong += 100;
  }
  return wrong == 100 ? 0 : wrong + 1;
}

#ifdef __clang__
extern "C" int omp_in_explicit_task(void);

long explicit_tasks() {
  long result = omp_in_explicit_task() * 1000L;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    result += omp_in_explicit_task() * 100L;
#pragma omp task shared(result)
    result += omp_in_explicit_task();
#pragma omp taskwait
#pragma omp task shared(result) if (0)
    result += omp_in_explicit_task() * 10L;
  }
  return result;
}

// As gcc's code would call it: libomp runs it, but its tasks are not nigh's.
extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
extern "C" void GOMP_barrier(void);

long regions_of_another_compiler() {
  std::atomic<long> arrived{0};
  long tasks = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
#pragma omp task shared(tasks)
    ++tasks;
    if (omp_get_thread_num() == 0) {
      auto const body = [](void* sum) {
        ++*static_cast<std::atomic<long>*>(sum);
        GOMP_barrier();
        GOMP_barrier();
      };
      GOMP_parallel(body, &arrived, 2, 0);
#pragma omp task shared(tasks)
      ++tasks;
#pragma omp taskwait
    }
  }
  return 10 * arrived + tasks;
}

// A task takes part in a reduction that another thread has begun, from within a taskgroup with
// another one, in a function that sees neither.
int reduced = 0;
[[gnu::noinline]] void add_one() {
#pragma omp task in_reduction(+ : reduced)
  ++reduced;
}
[[gnu::noinline]] int reduce_inside(int depth) {
  int inner = 0;
#pragma omp taskgroup task_reduction(+ : inner)
  {
#pragma omp task in_reduction(+ : inner)
    ++inner;
    add_one();
    if (depth > 0) {
#pragma omp task firstprivate(depth) in_reduction(+ : inner)
      inner += reduce_inside(depth - 1);
    }
  }
  return inner;
}
long reductions_in_functions() {
  long sum = 0;
  reduced = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int round = 0; round < 50; ++round) {
#pragma omp taskgroup task_reduction(+ : reduced)
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(sum)
      {
        usleep(100);
        int const inner = reduce_inside(3);
#pragma omp atomic
        sum += inner;
      }
    }
  }
  return reduced * 100000L + sum;
}
#else
// Of gcc from 13 on: as it translates `taskwait depend(in: x) nowait`, and a task that waits for
// that.
extern "C" [[gnu::weak]] void GOMP_taskwait_depend_nowait(void** depend);

long waits_that_do_not_wait() {
  if (GOMP_taskwait_depend_nowait == nullptr) return -1;
  static std::atomic<int> may_end{0};
  static int x = 0, y = 0;
  long result = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(result)
    {
      while (may_end == 0) usleep(100);
      ++result;
    }
    void* list[] = {reinterpret_cast<void*>(2), reinterpret_cast<void*>(1), &y, &x};
    GOMP_taskwait_depend_nowait(list);
    may_end = 1;
#pragma omp task depend(in : y) shared(result)
    result *= 10;
  }
  return result;
}

// libgomp's taskyield does nothing.
[[gnu::noinline]] void add_locked(long& ran) {
#pragma omp critical(lock)
  ++ran;
}
long yield_with_a_lock() {
  long ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp critical(lock)
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(ran)
      add_locked(ran);
    }
#pragma omp taskyield
  }
  return ran;
}
#endif

// Constructs of another compiler's library, which binds them to a region of its own runtime.
char const* others_library = nullptr;

long constructs_of_another_compiler() {
  void* const library = dlopen(others_library, RTLD_NOW);
  if (library == nullptr) return -1;
  auto* const barrier = reinterpret_cast<void (*)()>(dlsym(library, "orphaned_barrier"));
  auto* const loop = reinterpret_cast<long (*)(int)>(dlsym(library, "orphaned_loop"));
  long ran = 0, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp task shared(ran)
    ran = 1;
    barrier();
    sum = loop(10);
  }
  return 100 * sum + ran;
}

// A task that is made when the other thread has come to the end of the loop, in the first region of this code.
long late_in_a_loop() {
  std::atomic<int> flag{0};
#pragma omp parallel num_threads(2)
#pragma omp for schedule(dynamic, 1)
  for (int i = 0; i < 2; ++i) {
    if (i == 1) continue;
    usleep(20'000);
#pragma omp task shared(flag)
    flag = 1;
    while (flag == 0) usleep(100);
  }
  return flag;
}

// The body of a single construct begins though another thread comes only after that.
long late_to_a_copy() {
  long sum = 0;
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> begun{0};
    int made = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      for (int i = 0; i < 10; ++i) {
#pragma omp task shared(made)
        {
#pragma omp atomic
          ++made;
        }
      }
      int copied = 0;
      if (omp_get_thread_num() == 1)
        while (begun == 0) usleep(100);
#pragma omp single copyprivate(copied)
      {
        begun = 1;
        copied = made;
      }
#pragma omp atomic
      sum += copied;
    }
  }
  return sum;
}

long strict_grain_of_everything() {
  long ran = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop grainsize(strict : ~0UL) shared(ran)
  for (int i = 0; i < 10; ++i) {
#pragma omp atomic
    ++ran;
  }
  return ran;
}

#ifdef __clang__
// Untied tasks that wait for each other by taskyield, and have children and groups between.
long untied_tasks_in_a_ring() {
  constexpr int tasks = 8, rounds = 40;
  std::atomic<int> at{0};
  std::atomic<long> sum{0};
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < tasks; ++i) {
#pragma omp task untied firstprivate(i) shared(at, sum)
    for (int round = 0; round < rounds; ++round) {
      while (at % tasks != i) {
#pragma omp taskyield
      }
#pragma omp task shared(sum)
      ++sum;
      if (round % 4 == 1) {
#pragma omp taskwait
      }
      if (round % 4 == 2) {
#pragma omp taskgroup
        {
#pragma omp task shared(sum)
          sum += 1000;
        }
      }
      ++at;
    }
  }
  return sum;
}

// Tasks of one mutexinoutset begin in any order: the first one here waits for the last one. They
// exclude each other, those with two addresses as well.
long any_order_in_a_mutexinoutset() {
  [[maybe_unused]] static int before = 0, x = 0, y = 0;
  static long x_sum = 0, y_sum = 0;
  std::atomic<int> flag{0};
#pragma omp parallel num_threads(2) shared(flag)
#pragma omp single
  {
#pragma omp task depend(out : before) shared(flag)
    while (flag == 0) usleep(100);
#pragma omp task depend(in : before) depend(mutexinoutset : x)
    ++x_sum;
#pragma omp task depend(mutexinoutset : x) shared(flag)
    flag = 1;
    for (int i = 0; i < 3000; ++i) {
#pragma omp task depend(mutexinoutset : x)
      x_sum += 1;
#pragma omp task depend(mutexinoutset : y, x)
      ++x_sum, ++y_sum;
#pragma omp task depend(mutexinoutset : y)
      y_sum += 1;
    }
#pragma omp task depend(in : x, y)
    flag = x_sum == 6001 && y_sum == 6000 ? 2 : 3;
  }
  return flag * 10'000 + x_sum;
}
#endif

struct Case {
  char const* name;
  long (*run)();
};
constexpr Case cases[]{{"loop_of_a_task_with_settings", loop_of_a_task_with_settings},
                       {"fresh_addresses", fresh_addresses},
                       {"events_of_a_task_that_waits", events_of_a_task_that_waits},
                       {"tasks_that_meet", tasks_that_meet},
                       {"device_of_a_task", device_of_a_task},
                       {"late_at_a_barrier", late_at_a_barrier},
                       {"settings_of_an_implicit_task", settings_of_an_implicit_task},
                       {"constructs_of_another_compiler", constructs_of_another_compiler},
                       {"late_in_a_loop", late_in_a_loop},
                       {"late_to_a_copy", late_to_a_copy},
                       {"strict_grain_of_everything", strict_grain_of_everything},
#ifdef __clang__
                       {"explicit_tasks", explicit_tasks},
                       {"untied_tasks_in_a_ring", untied_tasks_in_a_ring},
                       {"any_order_in_a_mutexinoutset", any_order_in_a_mutexinoutset},
                       {"regions_of_another_compiler", regions_of_another_compiler},
                       {"reductions_in_functions", reductions_in_functions}
#else
                       {"waits_that_do_not_wait", waits_that_do_not_wait},
                       {"yield_with_a_lock", yield_with_a_lock}
#endif
};

}  // namespace

int main(int count, char** words) {
  if (count > 2) others_library = words[2];
  for (Case const& c : cases) {
    if (count > 1 && strcmp(words[1], c.name) != 0) continue;
    std::printf("%s %ld\n", c.name, c.run());
    std::fflush(stdout);
  }
}
