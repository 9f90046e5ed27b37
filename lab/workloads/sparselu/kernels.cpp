// SPDX-License-Identifier: Apache-2.0
#include "sparselu/kernels.hpp"

#include <cstddef>

namespace sparselu {

namespace {

// to[j] -= factor * from[j], for j in [first, b). The rows never overlap.
void subtract(float* __restrict to, float factor, float const* __restrict from, int first,
              int b) noexcept {
  for (int j = first; j < b; ++j) to[j] -= factor * from[j];
}

std::ptrdiff_t at(int row, int b) noexcept { return static_cast<std::ptrdiff_t>(row) * b; }

}  // namespace

void lu0(float* diagonal, int b) noexcept {
  for (int k = 0; k < b; ++k)
    for (int i = k + 1; i < b; ++i) {
      float* const row = diagonal + at(i, b);
      row[k] /= diagonal[at(k, b) + k];
      subtract(row, row[k], diagonal + at(k, b), k + 1, b);
    }
}

void fwd(float const* diagonal, float* column, int b) noexcept {
  for (int k = 0; k < b; ++k)
    for (int i = k + 1; i < b; ++i)
      subtract(column + at(i, b), diagonal[at(i, b) + k], column + at(k, b), 0, b);
}

void bdiv(float const* diagonal, float* row, int b) noexcept {
  for (int i = 0; i < b; ++i)
    for (int k = 0; k < b; ++k) {
      float* const line = row + at(i, b);
      line[k] /= diagonal[at(k, b) + k];
      subtract(line, line[k], diagonal + at(k, b), k + 1, b);
    }
}

void bmod(float const* row, float const* column, float* inner, int b) noexcept {
  for (int i = 0; i < b; ++i)
    for (int k = 0; k < b; ++k)
      subtract(inner + at(i, b), row[at(i, b) + k], column + at(k, b), 0, b);
}

}  // namespace sparselu
