// SPDX-License-Identifier: Apache-2.0
// A sum of squares, with one mistake or none: debug_me [race|overflow|leak|throw]
#include <cstdio>
#include <functional>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/task_scope.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

constexpr int count = 2'000'000;

long square(int i, std::string_view mistake) {
  if (i == count / 4 * 3 && mistake == "throw") throw std::runtime_error("no square of this");
  return long{i % 1000} * (i % 1000);
}

int main(int argc, char** argv) {
  std::string_view const mistake = argc > 1 ? argv[1] : "none";
  std::vector<long> squares(count);
  long* const data = squares.data();
  nigh::parallel_for(0, mistake == "overflow" ? count + 1 : count,
                     [=](int i) { data[i] = square(i, mistake); });

  long sum = 0;
  if (mistake == "race")
    nigh::parallel_for(0, count, [&](int i) { sum += data[i]; });
  else
    sum = nigh::parallel_reduce(0, count, 0L, [=](int i) { return data[i]; }, std::plus<>());

  nigh::task_scope scope;
  scope.spawn([=] {
    if (mistake == "leak") {
      [[maybe_unused]] long* volatile lost = new long[1000]{};
      lost = nullptr;
    }
  });
  scope.wait();
  std::printf("sum %ld\n", sum);
}
