// SPDX-License-Identifier: Apache-2.0
// dynamic WORD...: does what the words say, in turn. region and clause=N begin a region, and print
// how many threads it has and how many omp_get_max_threads() said before; many does it a thousand
// times, and prints the least and most. dynamic=N calls omp_set_dynamic, threads=N
// omp_set_num_threads; other=N has another thread of the program call it; within=N and undynamic
// call them within a region. get prints what omp_get_dynamic() says. sum has arrays of
// omp_get_max_threads() values, as LULESH. cpus prints on how many cpus the thread may run.

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

int region(int clause) {
  int threads = 0;
  if (clause > 0) {
#pragma omp parallel num_threads(clause)
#pragma omp single
    threads = omp_get_num_threads();
  } else {
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
  }
  return threads;
}

void many() {
  int least = region(0);
  int most = least;
  for (int i = 1; i < 1000; ++i) {
    int const threads = region(0);
    least = std::min(least, threads);
    most = std::max(most, threads);
  }
  std::printf("from %d to %d\n", least, most);
}

// Wrong where there are fewer threads than were promised.
void sum() {
  std::vector<long> parts(static_cast<std::size_t>(omp_get_max_threads()), -1'000'000);
#pragma omp parallel
  {
    auto const me = static_cast<std::size_t>(omp_get_thread_num());
    parts[me] = 0;
#pragma omp for
    for (int i = 0; i < 1000; ++i) parts[me] += i;
  }
  long total = 0;
  for (long const part : parts) total += part;
  std::printf("sum %ld\n", total);
}

}  // namespace

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    std::string const word = words[i];
    int const value = std::atoi(word.c_str() + word.find('=') + 1);
    if (word.starts_with("dynamic=")) omp_set_dynamic(value);
    if (word.starts_with("threads=")) omp_set_num_threads(value);
    if (word.starts_with("other=")) std::thread([=] { omp_set_num_threads(value); }).join();
    if (word.starts_with("within=")) {
#pragma omp parallel
      omp_set_num_threads(value);
    }
    if (word == "undynamic") {
#pragma omp parallel
      omp_set_dynamic(0);
    }
    if (word == "get") std::printf("dynamic %d\n", omp_get_dynamic() != 0 ? 1 : 0);
    if (word == "region") std::printf("%d of %d\n", region(0), omp_get_max_threads());
    if (word.starts_with("clause=")) std::printf("%d of %d\n", region(value), value);
    if (word == "many") many();
    if (word == "cpus") {
      cpu_set_t allowed;
      sched_getaffinity(0, sizeof allowed, &allowed);
      std::printf("%d cpus\n", CPU_COUNT(&allowed));
    }
    if (word == "sum") sum();
  }
}
