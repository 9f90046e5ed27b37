// SPDX-License-Identifier: Apache-2.0
// Loops of many more tasks than wait at once, and as many tasks that depend on each other. Each is a case with a
// name, which prints how much was wrong: many_tasks CASE.
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr long many = 3000;

// All of them once, and each with what it may count on.
struct Runs {
  std::vector<int> times;
  std::atomic<long> wrong{0};

  explicit Runs(long n) : times(static_cast<std::size_t>(n)) {}
  void note(long i) {
#pragma omp atomic
    ++times[static_cast<std::size_t>(i)];
  }
  long result() {
    for (int const n : times) wrong += n != 1;
    return wrong;
  }
};

struct Copied {
  long value = 7;
  Copied() = default;
  Copied(Copied const& other) : value(other.value) {}
  Copied& operator=(Copied const&) = default;
  ~Copied() { value = 0; }
};

long of_a_loop(long grain) {
  Runs runs(many);
  long last = -1, own = 5;
  Copied copied;
#pragma omp taskloop grainsize(grain) firstprivate(own) lastprivate(last) shared(runs)
  for (long i = 0; i < many; ++i) {
    runs.note(i);
    runs.wrong += own != 5;
    last = i;
  }
  runs.wrong += last != many - 1;
  Runs down(many);
#pragma omp taskloop grainsize(grain) firstprivate(copied) shared(down)
  for (long i = 2 * many; i > 0; i -= 2) {
    down.note(i / 2 - 1);
    down.wrong += copied.value != 7;
  }
  Runs wide(many);
#pragma omp taskloop num_tasks(many - 1) shared(wide)
  for (unsigned long i = 1UL << 63U; i < (1UL << 63U) + many; ++i)
    wide.note(static_cast<long>(i - (1UL << 63U)));
  return runs.result() + down.result() + wide.result();
}

// Most of the work is in few iterations, and some have tasks and loops of their own.
long of_an_uneven_loop() {
  Runs runs(many);
  long sum = 0;
#pragma omp taskloop grainsize(1) shared(runs) reduction(+ : sum)
  for (long i = 0; i < many; ++i) {
    runs.note(i);
    sum += i;
    if (i % 500 != 0) continue;
    std::atomic<long> inner{0};
#pragma omp taskloop grainsize(1) shared(inner)
    for (long k = 0; k < many; ++k) ++inner;
    runs.wrong += inner != many;
    for (int k = 0; k < 10; ++k) {
#pragma omp task shared(inner)
      --inner;
    }
#pragma omp taskwait
    runs.wrong += inner != many - 10;
  }
  return runs.result() + (sum != many * (many - 1) / 2);
}

// Tasks of an iteration may be there when it has ended, and the loop does not wait.
long without_a_group() {
  Runs runs(2 * many);
#pragma omp taskgroup
  {
    Runs* const all = &runs;
#pragma omp taskloop grainsize(1) nogroup firstprivate(all)
    for (long i = 0; i < many; ++i) {
      all->note(i);
#pragma omp task firstprivate(i, all)
      all->note(many + i);
    }
  }
  // No task of such a loop is left behind a taskwait.
  for (int round = 0; round < 10; ++round) {
    Runs waited(many);
#pragma omp taskloop grainsize(2) nogroup shared(waited)
    for (long i = 0; i < many; ++i) {
      if (i % 16 == 0) usleep(50);
      waited.note(i);
    }
#pragma omp taskwait
    runs.wrong += waited.result();
  }
  return runs.result();
}

// Undeferred, and in a final task: by the thread that has come to the loop.
long undeferred() {
  std::atomic<long> wrong{0};
  for (bool const is_final : {false, true}) {
#pragma omp task final(is_final) if (!is_final) shared(wrong)
    {
      long runs = 0;
      int const thread = omp_get_thread_num();
#pragma omp taskloop grainsize(1) if (is_final) shared(runs, wrong)
      for (long i = 0; i < many; ++i) {
        ++runs;
        wrong += omp_get_thread_num() != thread;
      }
      wrong += runs != many;
    }
#pragma omp taskwait
  }
  return wrong;
}

long loops() {
  return of_a_loop(1) + of_a_loop(3) + of_an_uneven_loop() + without_a_group() + undeferred();
}

// Each task reads and writes some of a few variables, as a thread alone would one after the other.
constexpr int variables = 8;
long dependences() {
  constexpr int tasks = 20'000;
  long values[variables] = {};
  long serial[variables] = {};
  std::atomic<long> wrong{0};
  unsigned random = 1;
  for (int i = 0; i < tasks; ++i) {
    random = random * 1664525U + 1013904223U;
    unsigned const from = (random >> 20U) % variables, to = (random >> 24U) % variables;
    long const seen = serial[from];
    long* const a = values + from;
    long* const b = values + to;
    if (i % 3 == 0) {  // only reads
#pragma omp task depend(in : a[0]) firstprivate(a, seen) shared(wrong)
      wrong += *a != seen;
    } else if (i % 1000 == 1) {  // with tasks of its own, which the others do not wait for
      serial[to] = i;
#pragma omp task depend(out : b[0]) firstprivate(b, i) shared(wrong)
      {
        for (int k = 0; k < 10; ++k) {
#pragma omp task
          {
          }
        }
        *b = i;
      }
    } else {
      serial[to] = seen + serial[to] + i;
#pragma omp task depend(in : a[0]) depend(inout : b[0]) firstprivate(a, b, i, seen) shared(wrong)
      {
        wrong += *a != seen;
        *b = *a + *b + i;
      }
    }
    if (i % 4000 == 0) {
#pragma omp task if (0) depend(in : b[0]) firstprivate(b) shared(wrong, serial, to)
      wrong += *b != serial[to];
    }
  }
#pragma omp taskwait
  for (int v = 0; v < variables; ++v) wrong += values[v] != serial[v];
  return wrong;
}

// As many as depend on nothing, and one that waits for all.
long without_order() {
  std::vector<char> ran(20'000);
  std::atomic<long> runs{0};
  for (char& each : ran) {
    char* const at = &each;
#pragma omp task depend(inout : at[0]) firstprivate(at) shared(runs)
    {
      ++*at;
      ++runs;
    }
  }
  long wrong = 0;
#pragma omp taskwait
  for (char const each : ran) wrong += each != 1;
  return wrong + (runs != static_cast<long>(ran.size()));
}

struct Case {
  char const* name;
  long (*run)();
};
constexpr Case cases[]{
    {"loops", loops}, {"dependences", dependences}, {"without_order", without_order}};

}  // namespace

int main(int count, char** words) {
  for (Case const& c : cases) {
    if (count < 2 || strcmp(words[1], c.name) != 0) continue;
    long wrong = -1;
#pragma omp parallel
#pragma omp single
    wrong = c.run();
    std::printf("%s %ld\n", c.name, wrong);
  }
}
