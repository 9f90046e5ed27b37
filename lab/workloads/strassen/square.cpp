// SPDX-License-Identifier: Apache-2.0
#include "strassen/square.hpp"

#include <algorithm>

namespace strassen {

namespace {

template <class F>
void combine(Square to, Square a, Square b, F f) noexcept {
  for (std::ptrdiff_t r = 0; r < to.rows; ++r) {
    double* __restrict const t = to.first + r * to.stride;
    double const* const x = a.first + r * a.stride;
    double const* const y = b.first + r * b.stride;
    for (std::ptrdiff_t n = 0; n < to.rows; ++n) t[n] = f(x[n], y[n]);
  }
}

}  // namespace

void add(Square to, Square a, Square b) noexcept {
  combine(to, a, b, [](double x, double y) { return x + y; });
}

void subtract(Square to, Square a, Square b) noexcept {
  combine(to, a, b, [](double x, double y) { return x - y; });
}

void multiply(Square to, Square a, Square b) noexcept {
  for (std::ptrdiff_t r = 0; r < to.rows; ++r) {
    double* __restrict const t = to.first + r * to.stride;
    std::fill_n(t, to.rows, 0.0);
    for (std::ptrdiff_t k = 0; k < to.rows; ++k) {
      double const factor = a.first[r * a.stride + k];
      double const* __restrict const y = b.first + k * b.stride;
      for (std::ptrdiff_t n = 0; n < to.rows; ++n) t[n] += factor * y[n];
    }
  }
}

}  // namespace strassen
