// SPDX-License-Identifier: Apache-2.0
#include "adi/problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "checksum.hpp"

namespace adi {

namespace {

constexpr double duration = 0.02;

struct Wave {
  int x, y;  // half waves along each side
  double height;
};
constexpr Wave waves[] = {{1, 1, 1.0}, {2, 3, 0.5}};

double sine(int half_waves, int i, int n) noexcept {
  return std::sin(std::numbers::pi * half_waves * (i + 1) / (n + 1));
}

// -D of a wave is so many times the wave.
double eigenvalue(int half_waves, int n) noexcept {
  double const s = std::sin(std::numbers::pi * half_waves / (2.0 * (n + 1)));
  return 4 * s * s;
}

// The part that a whole step leaves of a wave.
double kept(Wave const& w, Problem const& p) noexcept {
  double const x = p.r() * eigenvalue(w.x, p.n), y = p.r() * eigenvalue(w.y, p.n);
  return (1 - y) / (1 + x) * ((1 - x) / (1 + y));
}

double value(Wave const& w, int x, int y, int n) noexcept {
  return w.height * sine(w.x, x, n) * sine(w.y, y, n);
}

}  // namespace

double Problem::r() const noexcept {
  double const side = n + 1;
  return duration / steps * side * side / 2;
}

double Problem::start(int x, int y) const noexcept {
  double sum = 0;
  for (Wave const& w : waves) sum += value(w, x, y, n);
  return sum;
}

double Problem::end(int x, int y) const noexcept {
  double sum = 0;
  for (Wave const& w : waves) sum += std::pow(kept(w, *this), steps) * value(w, x, y, n);
  return sum;
}

void Result::add_point(Problem const& p, int x, int y, double u) noexcept {
  double const difference = std::abs(u - p.end(x, y));
  // A NaN would lose every comparison.
  error = std::max(error,
                   std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference);
  auto const n = static_cast<std::uint64_t>(p.n);
  checksum +=
      workloads::checksum_of(static_cast<std::uint64_t>(y) * n + static_cast<std::uint64_t>(x), u);
}

void Result::add(Result const& other) noexcept {
  error = std::max(error, other.error);
  checksum += other.checksum;
}

LineOperator::LineOperator(int n, double r) : r_(r), inverse_(static_cast<std::size_t>(n)) {
  double before = 0;
  for (double& inverse : inverse_) {
    inverse = 1 / (1 + 2 * r - r * r * before);
    before = inverse;
  }
}

void LineOperator::solve(double* line) const noexcept {
  std::size_t const n = inverse_.size();
  line[0] *= inverse_[0];
  for (std::size_t i = 1; i < n; ++i) line[i] = (line[i] + r_ * line[i - 1]) * inverse_[i];
  for (std::size_t i = n - 1; i-- > 0;) line[i] += r_ * inverse_[i] * line[i + 1];
}

void LineOperator::apply(double const* line, double* to) const noexcept {
  std::size_t const n = inverse_.size();
  for (std::size_t i = 0; i < n; ++i) {
    double const left = i > 0 ? line[i - 1] : 0;
    double const right = i + 1 < n ? line[i + 1] : 0;
    to[i] = line[i] + r_ * (left - 2 * line[i] + right);
  }
}

}  // namespace adi
