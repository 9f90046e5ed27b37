// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix product in blocks, a parallel region for each panel of B: few long regions that can use
// any number of threads.

#include <cstdint>
#include <vector>

namespace mmul {

struct Result {
  std::vector<double> c;
  std::uint64_t checksum = 0;  // of C v, for a vector v without zeros
  bool verified = false;       // C v = A (B v), exactly
};

// C = A B for n x n matrices of small integers, so that every order of adding gives the same bits.
Result multiply(int n);

double element_of_a(int n, int row, int column) noexcept;
double element_of_b(int n, int row, int column) noexcept;

}  // namespace mmul
