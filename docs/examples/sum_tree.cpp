// SPDX-License-Identifier: Apache-2.0
// Sums a range by halves, finds a value with a scope that stops early: c++ -std=c++20 -O2
// sum_tree.cpp $(pkg-config --cflags --libs nigh)

#include <atomic>
#include <cstdio>
#include <nigh/fork_join.hpp>
#include <nigh/task_scope.hpp>
#include <numeric>
#include <vector>

long sum(long const* begin, long const* end) {
  if (end - begin <= 1000) return std::accumulate(begin, end, 0L);
  auto const* middle = begin + (end - begin) / 2;
  auto const [left, right] =
      nigh::fork_join([=] { return sum(begin, middle); }, [=] { return sum(middle, end); });
  return left + right;
}

int main() {
  std::vector<long> numbers(10'000'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::printf("sum %ld\n", sum(numbers.data(), numbers.data() + numbers.size()));

  std::atomic<long> found{-1};
  nigh::task_scope scope;
  for (std::size_t first = 0; first < numbers.size(); first += 100'000)
    scope.spawn([&, first] {
      for (std::size_t i = first; i < first + 100'000 && !scope.stop_requested(); ++i)
        if (numbers[i] == 7'654'321) {
          found = static_cast<long>(i);
          scope.request_stop();
        }
    });
  scope.wait();
  std::printf("found at %ld\n", found.load());

  for (auto const& c : nigh::default_runtime().counters())
    std::printf("cpu %d stole %lu times\n", c.cpu, static_cast<unsigned long>(c.steals));
}
