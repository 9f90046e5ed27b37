// SPDX-License-Identifier: Apache-2.0
// Built with AddressSanitizer: a parallel region that reads within an array or, with an argument,
// beyond it.
#include <cstdio>
#include <vector>

int main(int argc, char**) {
  std::vector<int> const numbers(10, 1);
  int const* const first = numbers.data();
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 9 + 2 * argc - 1; ++i) sum += first[i];
  std::printf("sum %d\n", sum);
}
