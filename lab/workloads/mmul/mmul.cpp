// SPDX-License-Identifier: Apache-2.0
#include "mmul/mmul.hpp"

#include <algorithm>
#include <cstddef>

#include "checksum.hpp"

namespace mmul {

namespace {

constexpr int panel = 128;  // rows of B at a time
constexpr int strip = 256;  // columns of them: 256 KiB, for the second-level cache
constexpr int share = 16;   // rows of C a thread takes up at a time

using Matrix = std::vector<double>;

std::size_t at(int n, int row, int column) noexcept {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(n) +
         static_cast<std::size_t>(column);
}

double small_integer(std::uint64_t x) noexcept {  // -8 .. 7
  return static_cast<double>(workloads::mixed(x) & 15) - 8;
}

struct Block {
  int begin, end;
};
Block block(int begin, int size, int n) noexcept { return {begin, std::min(begin + size, n)}; }

// C += A B, as far as these rows, these elements of a row of A and these columns go.
void add_product(Matrix& c, Matrix const& a, Matrix const& b, int n, Block rows, Block inner,
                 Block columns) noexcept {
  for (int i = rows.begin; i < rows.end; ++i) {
    double* const to = &c[at(n, i, 0)];
    int k = inner.begin;
    for (; k + 4 <= inner.end; k += 4) {
      double const* const f = &a[at(n, i, k)];
      double const* const b0 = &b[at(n, k, 0)];
      double const* const b1 = b0 + n;
      double const* const b2 = b1 + n;
      double const* const b3 = b2 + n;
      for (int j = columns.begin; j < columns.end; ++j)
        to[j] += f[0] * b0[j] + f[1] * b1[j] + (f[2] * b2[j] + f[3] * b3[j]);
    }
    for (; k < inner.end; ++k)
      for (int j = columns.begin; j < columns.end; ++j) to[j] += a[at(n, i, k)] * b[at(n, k, j)];
  }
}

std::vector<double> times(Matrix const& m, std::vector<double> const& v) {
  auto const n = static_cast<int>(v.size());
  std::vector<double> product(v.size());
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += m[at(n, i, j)] * v[static_cast<std::size_t>(j)];
    product[static_cast<std::size_t>(i)] = sum;
  }
  return product;
}

}  // namespace

double element_of_a(int n, int row, int column) noexcept {
  return small_integer(2 * at(n, row, column));
}
double element_of_b(int n, int row, int column) noexcept {
  return small_integer(2 * at(n, row, column) + 1);
}

Result multiply(int n) {
  Matrix a(at(n, n, 0)), b(at(n, n, 0));
  Result r;
  r.c.resize(a.size());
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      a[at(n, i, j)] = element_of_a(n, i, j);
      b[at(n, i, j)] = element_of_b(n, i, j);
    }

  for (int k = 0; k < n; k += panel) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i += share)
      for (int j = 0; j < n; j += strip)
        add_product(r.c, a, b, n, block(i, share, n), block(k, panel, n), block(j, strip, n));
  }

  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t j = 0; j < v.size(); ++j) v[j] = static_cast<double>(1 + j % 16);
  auto const cv = times(r.c, v);
  r.verified = cv == times(a, times(b, v));
  for (std::size_t i = 0; i < cv.size(); ++i) r.checksum += workloads::checksum_of(i, cv[i]);
  return r;
}

}  // namespace mmul
