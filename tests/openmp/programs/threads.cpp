// SPDX-License-Identifier: Apache-2.0
// Threads of the program that begin regions at the same time, again and again, and come and go.

#include <cstdio>
#include <thread>
#include <vector>

namespace {

long work(int rounds) {
  long total = 0;
  for (int r = 0; r < rounds; ++r) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    total += sum;
  }
  return total;
}

}  // namespace

int main() {
  for (int generation = 0; generation < 4; ++generation) {
    std::vector<long> totals(3);
    std::vector<std::thread> threads;
    for (auto& total : totals) threads.emplace_back([&total] { total = work(50); });
    for (auto& thread : threads) thread.join();
    std::printf("%ld %ld %ld\n", totals[0], totals[1], totals[2]);
  }
  std::printf("%ld\n", work(10));
}
