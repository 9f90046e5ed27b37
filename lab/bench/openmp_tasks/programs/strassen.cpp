// SPDX-License-Identifier: Apache-2.0
// Strassen's product of matrices: seven tasks a level, down to blocks that are multiplied directly.
#include <cmath>
#include <memory>
#include <vector>

#include "program.hpp"

namespace {

constexpr long direct = 64;

struct View {
  double* at;
  long stride;
  View quarter(int row, int column, long half) const {
    return {at + row * half * stride + column * half, stride};
  }
};

void multiply_directly(View c, View a, View b, long n) {
  for (long i = 0; i < n; ++i) {
    double* const row = c.at + i * c.stride;
    for (long j = 0; j < n; ++j) row[j] = 0;
    for (long k = 0; k < n; ++k) {
      double const x = a.at[i * a.stride + k];
      double const* const other = b.at + k * b.stride;
      for (long j = 0; j < n; ++j) row[j] += x * other[j];
    }
  }
}

void combine(View to, View a, double sign, View b, long n) {
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j)
      to.at[i * to.stride + j] = a.at[i * a.stride + j] + sign * b.at[i * b.stride + j];
}

void add(View to, double sign, View a, long n) { combine(to, to, sign, a, n); }

void multiply(View c, View a, View b, long n);

// to = (a1 + sa a2) (b1 + sb b2); a sign of 0: the first alone.
void product(View to, View a1, double sa, View a2, View b1, double sb, View b2, long n) {
  std::unique_ptr<double[]> sums(new double[static_cast<std::size_t>(2 * n * n)]);
  View const a{sums.get(), n}, b{sums.get() + n * n, n};
  if (sa != 0) combine(a, a1, sa, a2, n);
  if (sb != 0) combine(b, b1, sb, b2, n);
  multiply(to, sa != 0 ? a : a1, sb != 0 ? b : b1, n);
}

void multiply(View c, View a, View b, long n) {
  if (n <= direct) return multiply_directly(c, a, b, n);
  long const h = n / 2;
  View const a11 = a.quarter(0, 0, h), a12 = a.quarter(0, 1, h), a21 = a.quarter(1, 0, h),
             a22 = a.quarter(1, 1, h);
  View const b11 = b.quarter(0, 0, h), b12 = b.quarter(0, 1, h), b21 = b.quarter(1, 0, h),
             b22 = b.quarter(1, 1, h);
  View const c11 = c.quarter(0, 0, h), c12 = c.quarter(0, 1, h), c21 = c.quarter(1, 0, h),
             c22 = c.quarter(1, 1, h);
  std::unique_ptr<double[]> products(new double[static_cast<std::size_t>(7 * h * h)]);
  View m[7];
  for (int i = 0; i < 7; ++i) m[i] = {products.get() + i * h * h, h};
#pragma omp task
  product(m[0], a11, 1, a22, b11, 1, b22, h);
#pragma omp task
  product(m[1], a21, 1, a22, b11, 0, b11, h);
#pragma omp task
  product(m[2], a11, 0, a11, b12, -1, b22, h);
#pragma omp task
  product(m[3], a22, 0, a22, b21, -1, b11, h);
#pragma omp task
  product(m[4], a11, 1, a12, b22, 0, b22, h);
#pragma omp task
  product(m[5], a21, -1, a11, b11, 1, b12, h);
#pragma omp task
  product(m[6], a12, -1, a22, b21, 1, b22, h);
#pragma omp taskwait
  combine(c11, m[0], 1, m[3], h);
  add(c11, -1, m[4], h);
  add(c11, 1, m[6], h);
  combine(c12, m[2], 1, m[4], h);
  combine(c21, m[1], 1, m[3], h);
  combine(c22, m[0], -1, m[1], h);
  add(c22, 1, m[2], h);
  add(c22, 1, m[5], h);
}

std::vector<double> times(std::vector<double> const& matrix, std::vector<double> const& x) {
  std::vector<double> y(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
  return y;
}

}  // namespace

int main(int argc, char** argv) {
  long const n =
      task_program::size_from(argc, argv, 1024, {direct, 1 << 14, true});  // halves must exist
  auto const size = static_cast<std::size_t>(n);
  std::vector<double> a(size * size), b(a.size()), c(a.size()), x(size);
  task_program::Sequence numbers(1);
  for (double& v : a) v = numbers.fraction();
  for (double& v : b) v = numbers.fraction();
  for (double& v : x) v = numbers.fraction();
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    multiply({c.data(), n}, {a.data(), n}, {b.data(), n}, n);
  });
  auto const found = times(c, x), expected = times(a, times(b, x));  // C x = A (B x)
  bool right = true;
  for (std::size_t i = 0; i < size; ++i)
    right = right && std::abs(found[i] - expected[i]) <= 1e-9 * std::abs(expected[i]);
  return task_program::report(seconds, right);
}
