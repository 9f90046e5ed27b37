// SPDX-License-Identifier: Apache-2.0
// memory NAME: a program with a mistake that AddressSanitizer, LeakSanitizer or UndefinedBehaviorSanitizer has to find,
// made by a task in a worker's thread where there is one.
#include <cstdio>
#include <cstring>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <vector>

namespace {

int volatile many = 100;

// A loop goes one too far.
int overflow() {
  std::vector<int> v(static_cast<std::size_t>(many));
  int* const data = v.data();
  nigh::parallel_for(0, many + 1, [data](int i) { data[i] = i; });
  return data[1];
}

// A queued task uses what its spawner has given back.
int after_return() {
  nigh::runtime pool;
  int* const number = new int(1);
  delete number;
  int read = 0;
  pool.spawn([&read, number] { read = *number; });
  pool.wait();
  return read;
}

// A task drops the only pointer to what it has made.
int leak() {
  nigh::runtime pool;
  pool.run([] {
    [[maybe_unused]] char* volatile lost = new char[1000]{};  // otherwise clang allocates nothing
    lost = nullptr;
  });
  return 0;
}

int wrong_shift() {
  int sum = 0;
  nigh::task_scope scope;
  scope.spawn([&sum] { sum = 1 << many; });
  scope.wait();
  return sum;
}

struct {
  char const* name;
  int (*run)();
} const all[] = {{"overflow", overflow}, {"after_return", after_return}, {"leak", leak}, {"wrong_shift", wrong_shift}};

}  // namespace

int main(int argc, char** argv) {
  for (auto const& mistake : all) {
    if (argc < 2)
      std::puts(mistake.name);
    else if (std::strcmp(argv[1], mistake.name) == 0)
      std::printf("%s: %d\n", mistake.name, mistake.run());
  }
}
