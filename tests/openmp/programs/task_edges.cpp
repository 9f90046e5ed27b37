// SPDX-License-Identifier: Apache-2.0
// Tasks at the edges of what programs do: jumps within a task, megabytes of arguments, a thousand shared variables, an exception
// that nobody catches. Each is a case with a name, which prints one line: task_edges CASE.
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace {

[[noreturn]] void jump_from(std::jmp_buf& to, int levels) {
  if (levels == 0) std::longjmp(to, 1);
  jump_from(to, levels - 1);
}
__attribute__((noinline)) long jump_once() {
  std::jmp_buf here;
  if (setjmp(here) == 0) jump_from(here, 5);
  return 1;
}

long jumps() {
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i)
#pragma omp task shared(sum)
  {
    long const jumped = jump_once();
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += jumped;
    }
#pragma omp taskwait
  }
  return sum;
}

struct Megabytes {
  char bytes[std::size_t{4} << 20];
};

long megabytes() {
  static Megabytes large;
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
    large.bytes[sizeof large.bytes - 1] = static_cast<char>(i);
#pragma omp task firstprivate(large) shared(sum)
    {
#pragma omp atomic
      sum += large.bytes[sizeof large.bytes - 1];
    }
  }
  return sum;
}

#define TEN(f, v) f(v##0) f(v##1) f(v##2) f(v##3) f(v##4) f(v##5) f(v##6) f(v##7) f(v##8) f(v##9)
#define HUNDRED(f, v)                                                                         \
  TEN(f, v##0) TEN(f, v##1) TEN(f, v##2) TEN(f, v##3) TEN(f, v##4) TEN(f, v##5) TEN(f, v##6) \
  TEN(f, v##7) TEN(f, v##8) TEN(f, v##9)
#define THOUSAND(f, v)                                                                     \
  HUNDRED(f, v##0) HUNDRED(f, v##1) HUNDRED(f, v##2) HUNDRED(f, v##3) HUNDRED(f, v##4)    \
  HUNDRED(f, v##5) HUNDRED(f, v##6) HUNDRED(f, v##7) HUNDRED(f, v##8) HUNDRED(f, v##9)
#define DECLARE(v) long v = 1;
#define ADD(v) sum += v++;

long thousand_variables() {
  THOUSAND(DECLARE, v)
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 3; ++i) {
#pragma omp task depend(inout : sum)
    {
      THOUSAND(ADD, v)
    }
  }
  return sum;
}

long leaves() {
#pragma omp parallel
#pragma omp single
#pragma omp task
  throw std::runtime_error("left a task");
  return 0;
}

struct Case {
  char const* name;
  long (*run)();
};
constexpr Case cases[]{{"jumps", jumps},
                       {"megabytes", megabytes},
                       {"thousand_variables", thousand_variables},
                       {"leaves", leaves}};

}  // namespace

int main(int count, char** words) {
  for (Case const& c : cases)
    if (count > 1 && std::strcmp(words[1], c.name) == 0) std::printf("%s %ld\n", c.name, c.run());
}
