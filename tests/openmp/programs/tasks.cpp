// SPDX-License-Identifier: Apache-2.0
// Each thing that OpenMP's tasks can do is a case with a name; every case prints one line that does
// not depend on the schedule. Without a name: all of them.
// tidy: long, because it is one short case after another.
#include <omp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

long fib(int n) {
  if (n < 2) return n;
  long x = 0, y = 0;
#pragma omp task shared(x)
  x = fib(n - 1);
#pragma omp task shared(y)
  y = fib(n - 2);
#pragma omp taskwait
  return x + y;
}

long in_team(long (*body)()) {
  long result = 0;
#pragma omp parallel
#pragma omp single
  result = body();
  return result;
}

long recursion() {
  return in_team([] { return fib(20); });
}

// Children that outlive their parents, counted by the region's end only.
long orphans() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single nowait
  for (int i = 0; i < 50; ++i) {
#pragma omp task shared(sum) firstprivate(i)
    for (int j = 0; j < 20; ++j) {
#pragma omp task shared(sum) firstprivate(i, j)
      {
#pragma omp task shared(sum) firstprivate(i, j)
        sum += i * j;
      }
    }
  }
  return sum;
}

long groups() {
  long result = 0;
#pragma omp parallel
#pragma omp single
  {
    std::atomic<long> sum{0};
    for (int round = 0; round < 20; ++round) {
#pragma omp taskgroup
      {
        for (int i = 0; i < 10; ++i) {
#pragma omp task shared(sum)
          {
#pragma omp task shared(sum)
            {
#pragma omp taskgroup
              {
#pragma omp task shared(sum)
                sum += 2;
              }
              sum += 1;
            }
          }
        }
      }
      result += sum == 30 * (round + 1) ? 1 : 100000;
    }
  }
  return result;
}

long dependences() {
  constexpr int n = 24;
  static long cell[n][n];
  memset(cell, 0, sizeof cell);
#pragma omp parallel
#pragma omp single
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < n; ++j) {
#pragma omp task depend(in : cell[i - 1][j], cell[i][j - 1]) depend(out : cell[i][j])
      cell[i][j] = (cell[i - 1][j] + cell[i][j - 1] + i * j) % 1000003;
    }
  return cell[n - 1][n - 1];
}

long readers_and_writers() {
  long value = 0, wrong = 0, seen = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 100; ++round) {
#pragma omp task depend(inout : value) shared(value)
    value = round;
    for (int i = 0; i < 5; ++i) {
#pragma omp task depend(in : value) shared(value, wrong, seen) firstprivate(round)
      {
        if (value != round) {
#pragma omp atomic
          ++wrong;
        }
#pragma omp atomic
        ++seen;
      }
    }
#pragma omp task depend(mutexinoutset : value) shared(value)
    value += 1000;
#pragma omp task depend(mutexinoutset : value) shared(value)
    value += 1000;
#pragma omp task depend(in : value) shared(value, wrong) firstprivate(round)
    if (value != round + 2000) {
#pragma omp atomic
      ++wrong;
    }
  }
  return wrong * 1000000 + seen;
}

long waits_for_some() {
  long x = 0, y = 0, result = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    x = 5;
#pragma omp task depend(out : y) shared(y)
    y = 7;
#pragma omp taskwait depend(in : x)
    result = x;
#pragma omp task if (0) depend(in : y) shared(y, result)
    result += y;
  }
  return result;
}

// gcc 12 knows neither.
long all_memory() {
  long wrong = 0;
#if defined(__clang__)
  [[maybe_unused]] long x = 0, y = 0;
  std::atomic<int> running{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 60; ++i) {
#pragma omp task depend(in : x) depend(inout : y) shared(running)
    {
      ++running;
      usleep(10);
      --running;
    }
#pragma omp task depend(in : x) shared(running)
    {
      ++running;
      --running;
    }
#pragma omp task depend(inout : omp_all_memory) shared(running, wrong)
    {
      if (running.exchange(100) != 0) ++wrong;
      usleep(10);
      if (running.exchange(0) != 100) ++wrong;
    }
#pragma omp taskwait depend(inout : x) nowait
  }
#endif
  return wrong;
}

long depend_objects() {
  long x = 0, y = 0;
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : x)
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task depend(depobj : object) shared(x)
    x = x * 3 % 1000003 + i;
#pragma omp task depend(depobj : object) depend(out : y) shared(x, y)
    y = x;
  }
#pragma omp depobj(object) destroy
  return y;
}

long loops() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(7)
    for (int i = 0; i < 100; ++i) sum += i;
#pragma omp taskloop num_tasks(13)
    for (long i = 100; i > -50; i -= 3) sum += i * 1000;
#pragma omp taskloop collapse(2)
    for (int i = 0; i < 9; ++i)
      for (int j = 3; j < 11; ++j) sum += i * j;
#pragma omp taskloop
    for (unsigned long i = 1; i < 1000; i += 7) sum += static_cast<long>(i);
#pragma omp taskloop nogroup
    for (int i = 0; i < 10; ++i) sum += 5;
#pragma omp taskloop
    for (int i = 0; i < 0; ++i) sum += 1000000;
#pragma omp taskloop num_tasks(1000)
    for (int i = 0; i < 3; ++i) sum += 11;
  }
  return sum;
}

// More tasks than wait: each has copies of its own, and waits for its own child only.
long long_loops() {
  long sum = 0, last = 0, own = 7;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1) reduction(+ : sum) lastprivate(last) firstprivate(own)
  for (long i = 0; i < 20'000; ++i) {
    long child = 0;
#pragma omp task shared(child)
    child = i;
    ++own;
#pragma omp taskwait
    sum += child + own;
    last = i;
  }
  return sum + last;
}

long last_private() {
  long last = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop lastprivate(last) num_tasks(9)
  for (int i = 0; i < 77; ++i) last = i;
  return last;
}

long reductions() {
  long sum = 0, product = 1, looped = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
    {
      for (int i = 1; i <= 30; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
        {
          sum += i;
#pragma omp task in_reduction(+ : sum)
          sum += 100;
        }
        if (i % 10 == 0) {
#pragma omp task in_reduction(* : product)
          product *= 3;
        }
      }
    }
#pragma omp taskloop reduction(+ : looped) grainsize(3)
    for (int i = 0; i < 100; ++i) looped += i;
  }
  return sum * 1000 + product + looped * 1000000;
}

long reductions_of_regions() {
  long sum = 0, looped = 0;
#pragma omp parallel reduction(task, + : sum)
  {
#pragma omp single
    for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
  }
#pragma omp parallel
#pragma omp for reduction(task, + : looped)
  for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : looped) firstprivate(i)
    looped += i;
  }
  return sum * 10000 + looped;
}

// Of a region and of a taskloop in it at once, and of a part of an array.
long reductions_of_both() {
  long sum = 0, looped = 0, part[4] = {};
#pragma omp parallel reduction(task, + : sum)
  {
#pragma omp single
    {
#pragma omp taskloop reduction(+ : looped) in_reduction(+ : sum) num_tasks(6)
      for (int i = 0; i < 30; ++i) {
        looped += i;
        sum += 2 * i;
      }
#pragma omp taskgroup task_reduction(+ : part[0 : 4])
      for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : part[0 : 4]) in_reduction(+ : sum) firstprivate(i)
        {
          part[i % 4] += i;
          sum += 1;
        }
      }
    }
  }
  return sum * 100000 + looped + part[0] + 2 * part[1] + 3 * part[2] + 4 * part[3];
}

// libgomp's nestable locks belong to tasks, libomp's to threads.
long nestable_locks() {
#if defined(__clang__)
  return 100;
#else
  long counted = 0;
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(lock, counted)
    {
      omp_set_nest_lock(&lock);
      omp_set_nest_lock(&lock);
      int inside = 1;
#pragma omp task if (0) shared(inside)
      inside = omp_test_nest_lock(&lock);
      int const mine = omp_test_nest_lock(&lock);
      counted += inside == 0 && mine == 3 ? 10 : 1000;
      for (int k = 0; k < 3; ++k) omp_unset_nest_lock(&lock);
    }
  }
  omp_destroy_nest_lock(&lock);
  return counted;
#endif
}

long events() {
  long done = 0;
  std::vector<std::thread> threads;
#pragma omp parallel
#pragma omp single
  {
    [[maybe_unused]] long x = 0;
    for (int i = 0; i < 8; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(inout : x) firstprivate(i) shared(done, threads)
      {
        if (i % 2 == 0)
          threads.emplace_back([event] {
            usleep(2000);
            omp_fulfill_event(event);
          });
        else
          omp_fulfill_event(event);
      }
#pragma omp task depend(inout : x) shared(done)
      ++done;
    }
#pragma omp taskwait
    done *= 10;
  }
  for (auto& t : threads) t.join();
  return done;
}

long final_tasks() {
  std::atomic<long> inside{0}, outside{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task final(i % 2 == 1) shared(inside, outside) firstprivate(i) mergeable
    {
      (omp_in_final() != 0 ? inside : outside) += 1;
      int here = 0;
#pragma omp task shared(inside, outside, here)
      {
        here = 1;
        (omp_in_final() != 0 ? inside : outside) += 1;
      }
      if (i % 2 == 1 && here != 1) inside += 1000;
#pragma omp taskwait
    }
  }
  return inside * 100 + outside;
}

long untied_tasks() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task untied shared(sum) firstprivate(i)
    {
      long x = 0;
      for (int j = 0; j < 5; ++j) {
#pragma omp task untied shared(x)
        {
#pragma omp atomic
          x += i;
        }
#pragma omp taskyield
      }
#pragma omp taskwait
      sum += x;
    }
  }
  return sum;
}

long at_once() {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
    long x = 0;
#pragma omp task if (0) shared(x)
    {
      x = i;
#pragma omp task shared(x) priority(3)
      {
#pragma omp atomic
        x += 1;
      }
#pragma omp taskwait
    }
    sum += x;
  }
  return sum;
}

std::atomic<int> alive{0};
struct Counted {
  int value;
  explicit Counted(int v) : value(v) { ++alive; }
  Counted(Counted const& other) : value(other.value) { ++alive; }
  Counted& operator=(Counted const&) = default;
  ~Counted() { --alive; }
};

long objects() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 100; ++i) {
      Counted const c(i);
      std::vector<int> list(static_cast<std::size_t>(i), 1);
#pragma omp task firstprivate(c, list) shared(sum)
      {
        sum += c.value + static_cast<long>(list.size());
        if (i % 3 == 0) {
#pragma omp task firstprivate(c) shared(sum)
          sum += c.value;
        }
      }
    }
    Counted pattern(5);
#pragma omp taskloop firstprivate(pattern) num_tasks(7)
    for (int i = 0; i < 20; ++i) sum += pattern.value;
  }
  return sum * 1000 + alive;
}

struct alignas(256) Aligned {
  long value;
  char rest[248];
};

long alignment() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 40; ++i) {
    Aligned a{};
    a.value = i;
    memset(a.rest, i, sizeof a.rest);
#pragma omp task firstprivate(a) shared(sum)
    sum += a.value + a.rest[247];
  }
  return sum;
}

template <std::size_t bytes>
struct Bytes {
  unsigned char at[bytes];
};
std::atomic<long> carried{0};

template <std::size_t bytes>
void carry() {
  Bytes<bytes> given;
  for (std::size_t i = 0; i < bytes; ++i) given.at[i] = static_cast<unsigned char>(bytes + i);
#pragma omp task firstprivate(given)
  {
    bool is_same = true;
    for (std::size_t i = 0; i < bytes; ++i)
      if (given.at[i] != static_cast<unsigned char>(bytes + i)) is_same = false;
    carried += is_same ? 1 : 1000;
  }
  if constexpr (bytes > 1) carry<bytes - 1>();
}

// Arguments of each size from 1 to 100 bytes.
long sizes() {
  carried = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) carry<100>();
  return carried;
}

long large() {
  struct Large {
    char bytes[300000];
  };
  std::atomic<long> sum{0};
  static Large big;
  for (int i = 0; i < 300000; ++i) big.bytes[i] = static_cast<char>(i % 100);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 30; ++i) {
#pragma omp task firstprivate(big) shared(sum)
    {
      long s = 0;
      for (char c : big.bytes) s += c;
      sum += s;
    }
  }
  return sum;
}

long nested() {
  std::atomic<long> sum{0};
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 6; ++i) {
#pragma omp task shared(sum)
    {
#pragma omp parallel num_threads(2)
      {
#pragma omp single
        for (int j = 0; j < 5; ++j) {
#pragma omp task shared(sum)
          {
            sum += omp_get_thread_num() < 2 ? 1 : 1000;
#pragma omp task shared(sum)
            sum += 10;
          }
        }
      }
#pragma omp task shared(sum)
      sum += 100;
    }
  }
  return sum;
}

long serialized() {
  std::atomic<long> sum{0}, wrong{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task shared(sum, wrong)
    {
#pragma omp parallel if (0)
      {
        for (int j = 0; j < 5; ++j) {
#pragma omp task shared(sum, wrong)
          {
            sum += 1;
            if (omp_get_thread_num() != 0 || omp_get_num_threads() != 1) wrong += 1;
          }
        }
      }
    }
  }
  return wrong * 10000 + sum;
}

long sections_and_loops() {
  std::atomic<long> sum{0};
#pragma omp parallel
  {
#pragma omp sections nowait
    {
#pragma omp section
      {
#pragma omp task shared(sum)
        sum += 1;
      }
#pragma omp section
      {
#pragma omp task shared(sum)
        sum += 10;
      }
    }
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 30; ++i) {
#pragma omp task shared(sum) firstprivate(i)
      sum += i * 100;
    }
#pragma omp for schedule(static, 2)
    for (int i = 0; i < 30; ++i) {
#pragma omp task shared(sum)
      sum += 100000;
    }
  }
  return sum;
}

long barriers() {
  long wrong = 0, count = 0;
#pragma omp parallel
  for (int round = 0; round < 50; ++round) {
#pragma omp task shared(count)
    {
#pragma omp atomic
      ++count;
    }
#pragma omp barrier
    long now = 0;
#pragma omp atomic read
    now = count;
    if (now != static_cast<long>(omp_get_num_threads()) * (round + 1)) {
#pragma omp atomic
      ++wrong;
    }
#pragma omp barrier
  }
  return wrong;
}

long copied() {
  long wrong = 0;
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
    int x = -1;
#pragma omp single copyprivate(x)
    {
#pragma omp task shared(x)
      x = i;
#pragma omp taskwait
    }
    if (x != i) {
#pragma omp atomic
      ++wrong;
    }
  }
  return wrong;
}

// A tied task may hold a lock while it waits for its children.
long locks() {
  long sum = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 60; ++i) {
#pragma omp task shared(sum, lock)
    {
      omp_set_lock(&lock);
      long x = 0;
      for (int j = 0; j < 4; ++j) {
#pragma omp task shared(x)
        {
          usleep(20);
#pragma omp atomic
          ++x;
        }
      }
#pragma omp taskwait
      sum += x;
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
  return sum;
}

int per_thread = 0;
#pragma omp threadprivate(per_thread)

long thread_private() {
  long wrong = 0, sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    per_thread = 0;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 200; ++i) {
#pragma omp task shared(wrong)
      {
        int const mine = omp_get_thread_num();
        ++per_thread;
        int x = 0;
#pragma omp task shared(x)
        x = 1;
#pragma omp taskwait
        if (omp_get_thread_num() != mine || x != 1) {
#pragma omp atomic
          ++wrong;
        }
      }
    }
    sum += per_thread;
  }
  return wrong * 1000 + sum;
}

void chain(int left, std::atomic<long>& sum) {
  sum += 1;
  if (left == 0) return;
#pragma omp task shared(sum) firstprivate(left)
  chain(left - 1, sum);
}

// Each task makes the next one: where they are run at once, the stack would not do.
long chains() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  chain(20000, sum);
  return sum;
}

long many() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 200000; ++i) {
#pragma omp task shared(sum)
    sum.fetch_add(1, std::memory_order_relaxed);
  }
  return sum;
}

long caught() {
  std::atomic<long> sum{0};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task shared(sum) firstprivate(i)
    {
      try {
        if (i % 2 == 0) throw std::runtime_error("here");
        sum += 1;
      } catch (std::runtime_error const&) {
        sum += 100;
      }
    }
  }
  return sum;
}

// Tasks that threads of their own begin, and tasks outside of any region.
long other_threads() {
  std::atomic<long> sum{0};
#pragma omp task shared(sum)
  sum += 1;
#pragma omp taskwait
#pragma omp taskgroup
  {
#pragma omp task shared(sum)
    sum += 2;
  }
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&sum] {
      long mine = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
      mine = fib(12);
      sum += mine;
#pragma omp task shared(sum)
      sum += 1000;
#pragma omp taskwait
    });
  for (auto& t : threads) t.join();
  return sum;
}

long settings() {
  std::atomic<long> wrong{0};
  int const before = omp_get_max_threads();
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(wrong)
      {
        omp_set_num_threads(3);
        if (omp_get_max_threads() != 3) ++wrong;
#pragma omp task shared(wrong)
        if (omp_get_max_threads() != 3) ++wrong;
#pragma omp taskwait
      }
    }
#pragma omp taskwait
    if (omp_get_max_threads() != before) ++wrong;
  }
  if (omp_get_max_threads() != before) ++wrong;
  return wrong;
}

// Within a region, by a task.
long forked() {
  std::atomic<long> sum{0};
  fflush(stdout);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(sum) firstprivate(i)
    {
      pid_t const child = fork();
      if (child == 0) _exit(i);
      int status = 0;
      waitpid(child, &status, 0);
      sum += WEXITSTATUS(status);
    }
  }
  return sum;
}

// How many threads have run a part.
long quick_loop() {
  std::vector<int> threads(1000);
#pragma omp parallel
#pragma omp single
#pragma omp taskloop
  for (int i = 0; i < 1000; ++i) threads[static_cast<std::size_t>(i)] = omp_get_thread_num();
  std::sort(threads.begin(), threads.end());
  return std::unique(threads.begin(), threads.end()) - threads.begin();
}

struct Case {
  char const* name;
  long (*run)();
};
constexpr Case cases[]{{"recursion", recursion},
                       {"orphans", orphans},
                       {"groups", groups},
                       {"dependences", dependences},
                       {"readers_and_writers", readers_and_writers},
                       {"waits_for_some", waits_for_some},
                       {"all_memory", all_memory},
                       {"depend_objects", depend_objects},
                       {"loops", loops},
                       {"long_loops", long_loops},
                       {"last_private", last_private},
                       {"reductions", reductions},
                       {"reductions_of_regions", reductions_of_regions},
                       {"reductions_of_both", reductions_of_both},
                       {"nestable_locks", nestable_locks},
                       {"events", events},
                       {"final_tasks", final_tasks},
                       {"untied_tasks", untied_tasks},
                       {"at_once", at_once},
                       {"objects", objects},
                       {"alignment", alignment},
                       {"sizes", sizes},
                       {"large", large},
                       {"nested", nested},
                       {"serialized", serialized},
                       {"sections_and_loops", sections_and_loops},
                       {"barriers", barriers},
                       {"copied", copied},
                       {"locks", locks},
                       {"thread_private", thread_private},
                       {"chains", chains},
                       {"many", many},
                       {"caught", caught},
                       {"other_threads", other_threads},
                       {"settings", settings},
                       {"forked", forked}};

}  // namespace

int main(int count, char** words) {
  bool found = false;
  for (Case const& c : cases) {
    if (count > 1 && strcmp(words[1], c.name) != 0) continue;
    found = true;
    std::printf("%s %ld\n", c.name, c.run());
    std::fflush(stdout);
    if (count < 3) continue;
    if (strcmp(words[2], "raise") == 0) {
      raise(SIGTERM);
      std::puts("still here");
    } else if (pid_t const child = fork(); child != 0) {
      waitpid(child, nullptr, 0);
    } else {
      std::printf("%s %ld\n", c.name, c.run());
    }
  }
  if (count > 1 && strcmp(words[1], "quick_loop") == 0) {
    std::printf("quick_loop %ld\n", quick_loop());
    return 0;
  }
  if (count > 1 && strcmp(words[1], "exit") == 0) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(i)
      if (i == 50) {
        std::puts("exit");
        std::exit(7);
      }
    }
  }
  // Until a signal: one task lasts, one thread waits for it.
  if (count > 1 && strcmp(words[1], "endless") == 0) {
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < 100; ++i) {
#pragma omp task
        found = true;
      }
#pragma omp taskwait
#pragma omp task
      {
        std::puts("ready");
        std::fflush(stdout);
        for (;;) pause();
      }
    }
  }
  return found ? 0 : 2;
}
