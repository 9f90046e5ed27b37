// SPDX-License-Identifier: Apache-2.0
#include "strassen/step.hpp"

namespace strassen {

Step::Step(Square c, Square a, Square b)
    : c_(c), a_(a), b_(b), half_(c.rows / 2), results_(products * area()) {}

Square Step::left(int p, double* space) const noexcept {
  Square const a11 = a_.quadrant(0, 0), a12 = a_.quadrant(0, 1);
  Square const a21 = a_.quadrant(1, 0), a22 = a_.quadrant(1, 1);
  Square const made{space, half_, half_};
  switch (p) {
    case 0:
      return add(made, a11, a22), made;
    case 1:
      return add(made, a21, a22), made;
    case 2:
      return a11;
    case 3:
      return a22;
    case 4:
      return add(made, a11, a12), made;
    case 5:
      return subtract(made, a21, a11), made;
    default:
      return subtract(made, a12, a22), made;
  }
}

Square Step::right(int p, double* space) const noexcept {
  Square const b11 = b_.quadrant(0, 0), b12 = b_.quadrant(0, 1);
  Square const b21 = b_.quadrant(1, 0), b22 = b_.quadrant(1, 1);
  Square const made{space, half_, half_};
  switch (p) {
    case 0:
      return add(made, b11, b22), made;
    case 1:
      return b11;
    case 2:
      return subtract(made, b12, b22), made;
    case 3:
      return subtract(made, b21, b11), made;
    case 4:
      return b22;
    case 5:
      return add(made, b11, b12), made;
    default:
      return add(made, b21, b22), made;
  }
}

void Step::combine() const noexcept {
  auto const p = [this](int number, std::ptrdiff_t row) {
    return result(number).first + row * half_;
  };
  for (std::ptrdiff_t r = 0; r < half_; ++r) {
    double* __restrict const c11 = c_.first + r * c_.stride;
    double* __restrict const c12 = c11 + half_;
    double* __restrict const c21 = c11 + half_ * c_.stride;
    double* __restrict const c22 = c21 + half_;
    double const *const p0 = p(0, r), *const p1 = p(1, r), *const p2 = p(2, r), *const p3 = p(3, r),
                        *const p4 = p(4, r), *const p5 = p(5, r), *const p6 = p(6, r);
    for (std::ptrdiff_t n = 0; n < half_; ++n) {
      c11[n] = p0[n] + p3[n] - p4[n] + p6[n];
      c12[n] = p2[n] + p4[n];
      c21[n] = p1[n] + p3[n];
      c22[n] = p0[n] - p1[n] + p2[n] + p5[n];
    }
  }
}

}  // namespace strassen
