// SPDX-License-Identifier: Apache-2.0
#pragma once
// Square pieces of matrices of doubles, and the arithmetic on them.

#include <cstddef>

namespace strassen {

struct Square {  // a view; row r begins at first + r * stride
  double* first = nullptr;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t stride = 0;

  Square quadrant(int down, int right) const noexcept {
    std::ptrdiff_t const half = rows / 2;
    return {first + down * half * stride + right * half, half, stride};
  }
};

void add(Square to, Square a, Square b) noexcept;       // to = a + b
void subtract(Square to, Square a, Square b) noexcept;  // to = a - b
void multiply(Square to, Square a, Square b) noexcept;  // to = a * b, by the definition

}  // namespace strassen
