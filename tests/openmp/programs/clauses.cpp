// SPDX-License-Identifier: Apache-2.0
// clauses [alone]: a region whose clause is omp_get_max_threads(), ten times; alone: where that is
// one, none.

#include <omp.h>

#include <chrono>
#include <string_view>
#include <thread>

int main(int count, char** words) {
  using namespace std::chrono_literals;
  int const threads = omp_get_max_threads();
  bool const is_left_out = count > 1 && std::string_view(words[1]) == "alone";
  if (threads == 1 && is_left_out) return 0;
  for (int i = 0; i < 10; ++i) {
#pragma omp parallel num_threads(threads)
    std::this_thread::sleep_for(2ms / threads);
  }
  return 0;
}
