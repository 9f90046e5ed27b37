// SPDX-License-Identifier: Apache-2.0
// privates N...: regions of so many threads in turn, "N/K" nested ones of K threads in each of N.
// Of each: how many threads came with fresh thread-private values, and how many values of ended
// threads have been destroyed since the start, as soon as that number is what the next word says:
// "=M".

#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<int> destroyed{0}, fresh{0}, kept_number{0};

struct Value {
  int number = -1;
  ~Value() {
    if (number >= 0) ++destroyed;
  }
};
thread_local Value value;

void look() {
  if (value.number < 0) ++fresh;
  if (value.number == omp_get_thread_num()) ++kept_number;
  value.number = omp_get_thread_num();
}

void run(int threads, int inside) {
#pragma omp parallel num_threads(threads)
  {
    look();
    if (inside > 0) {
#pragma omp parallel num_threads(inside)
      {
        if (omp_get_thread_num() > 0) look();
      }
    }
  }
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (words[i][0] == '=') {  // a thread ends some time after its team has shrunk
      int const awaited = std::atoi(words[i] + 1);
      for (int ms = 0; ms < 2000 && destroyed != awaited; ++ms) usleep(1000);
      usleep(50000);
      std::printf("destroyed %d\n", destroyed.load());
      continue;
    }
    char const* const slash = std::strchr(words[i], '/');
    fresh = kept_number = 0;
    run(std::atoi(words[i]), slash != nullptr ? std::atoi(slash + 1) : 0);
    std::printf("%s: fresh %d, the same as before %d\n", words[i], fresh.load(),
                kept_number.load());
  }
}
