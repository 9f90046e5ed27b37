// SPDX-License-Identifier: Apache-2.0
#include "gauss/gauss.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "checksum.hpp"

namespace gauss {

namespace {

// Rows of A, each with its element of b behind it. Pivoting swaps pointers.
class System {
 public:
  explicit System(int n) : n_(n), row_(static_cast<std::size_t>(n)) {
    auto const width = static_cast<std::size_t>(n) + 1;
    elements_.resize(width * static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = elements_.data() + i * width;
#pragma omp parallel for
    for (int i = 0; i < n; ++i) {
      double* const row = row_[static_cast<std::size_t>(i)];
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += row[j] = matrix_element(n, i, j);
      row[n] = sum;
    }
  }

  void eliminate() {
    for (int k = 0; k < n_; ++k) {
      swap_pivot_to(k);
      double const* const pivot = row(k);
#pragma omp parallel for schedule(static)
      for (int i = k + 1; i < n_; ++i) subtract(row(i), pivot, k);
    }
  }

  std::vector<double> substitute_back() {
    std::vector<double> x(static_cast<std::size_t>(n_));
    for (int i = n_ - 1; i >= 0; --i) {
      double sum = row(i)[n_];
      for (int j = i + 1; j < n_; ++j) sum -= row(i)[j] * x[static_cast<std::size_t>(j)];
      x[static_cast<std::size_t>(i)] = sum / row(i)[i];
    }
    return x;
  }

 private:
  double* row(int i) noexcept { return row_[static_cast<std::size_t>(i)]; }

  void swap_pivot_to(int k) noexcept {
    int best = k;
    for (int i = k + 1; i < n_; ++i)
      if (std::abs(row(i)[k]) > std::abs(row(best)[k])) best = i;
    std::swap(row_[static_cast<std::size_t>(k)], row_[static_cast<std::size_t>(best)]);
  }

  void subtract(double* from, double const* pivot, int k) const noexcept {
    double const factor = from[k] / pivot[k];
    for (int j = k + 1; j <= n_; ++j) from[j] -= factor * pivot[j];
  }

  int n_;
  std::vector<double> elements_;
  std::vector<double*> row_;
};

double largest(std::vector<double> const& values) noexcept {
  double most = 0;
  for (double const v : values) most = std::max(most, std::abs(v));
  return most;
}

}  // namespace

double matrix_element(int n, int row, int column) noexcept {
  auto const index = static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(n) +
                     static_cast<std::uint64_t>(column);
  return static_cast<double>(workloads::mixed(index) >> 11) * 0x1p-52 - 1;
}

Result solve(int n) {
  System system(n);
  system.eliminate();
  Result r;
  r.x = system.substitute_back();
  for (std::size_t i = 0; i < r.x.size(); ++i) r.checksum += workloads::checksum_of(i, r.x[i]);

  std::vector<double> residual(r.x.size()), row_sum(r.x.size());
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    double left = 0, right = 0, sum = 0;
    for (int j = 0; j < n; ++j) {
      double const a = matrix_element(n, i, j);
      left += a * r.x[static_cast<std::size_t>(j)];
      right += a;
      sum += std::abs(a);
    }
    residual[static_cast<std::size_t>(i)] = left - right;
    row_sum[static_cast<std::size_t>(i)] = sum;
  }
  r.scaled_residual = largest(residual) / (std::numeric_limits<double>::epsilon() *
                                           largest(row_sum) * largest(r.x) * n);
  constexpr double rounding = 16;  // the bound of High-Performance Linpack
  r.verified = r.scaled_residual < rounding;
  return r;
}

}  // namespace gauss
