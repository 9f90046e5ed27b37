// SPDX-License-Identifier: Apache-2.0
// ADI as its formula reads, on one thread and one array. The solver of many threads and processes
// must end with the same bits.

#include "adi/solver.hpp"

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

namespace {

// Points x + n y.
class Field {
 public:
  explicit Field(int n) : n_(static_cast<std::size_t>(n)), u_(n_ * n_), line_(n_), changed_(n_) {}

  double& at(int x, int y) noexcept {
    return u_[static_cast<std::size_t>(x) + n_ * static_cast<std::size_t>(y)];
  }
  void apply(LineOperator const& op, bool along_x) {
    for_each_line(along_x, [&] {
      op.apply(line_.data(), changed_.data());
      line_.swap(changed_);
    });
  }
  void solve(LineOperator const& op, bool along_x) {
    for_each_line(along_x, [&] { op.solve(line_.data()); });
  }

 private:
  template <class Change>
  void for_each_line(bool along_x, Change change) {
    for (std::size_t l = 0; l < n_; ++l) {
      auto const point = [&](std::size_t i) -> double& {
        return along_x ? u_[i + n_ * l] : u_[l + n_ * i];
      };
      for (std::size_t i = 0; i < n_; ++i) line_[i] = point(i);
      change();
      for (std::size_t i = 0; i < n_; ++i) point(i) = line_[i];
    }
  }

  std::size_t n_;
  std::vector<double> u_, line_, changed_;
};

}  // namespace

Result solve_serially(Problem const& p) {
  Field u(p.n);
  for (int y = 0; y < p.n; ++y)
    for (int x = 0; x < p.n; ++x) u.at(x, y) = p.start(x, y);
  LineOperator const op(p.n, p.r());
  for (int step = 0; step < p.steps; ++step)
    for (bool const implicit_along_x : {true, false}) {
      u.apply(op, !implicit_along_x);
      u.solve(op, implicit_along_x);
    }
  Result r;
  for (int y = 0; y < p.n; ++y)
    for (int x = 0; x < p.n; ++x) r.add_point(p, x, y, u.at(x, y));
  return r;
}

Lines::Lines(int of, int first, int last) : n(of), begin(first), end(last) {
  points.resize(static_cast<std::size_t>(size()) * static_cast<std::size_t>(n));
}

void transpose_alone(Lines const& from, Lines& to) {
  constexpr int tile = 32;  // squares, or each point would be a cache line
#pragma omp parallel for schedule(static)
  for (int first = 0; first < to.n; first += tile)
    for (int column = 0; column < to.n; column += tile)
      for (int l = first; l < std::min(first + tile, to.n); ++l)
        for (int i = column; i < std::min(column + tile, to.n); ++i)
          to.line(l)[i] = from.line(i)[l];
}

Result solve(Problem const& p, int begin, int end, Transpose const& transpose) {
  LineOperator const op(p.n, p.r());
  Lines lines(p.n, begin, end), other(p.n, begin, end);
  // Lines along y first, for the explicit side of the first half step is along them.
#pragma omp parallel for schedule(static)
  for (int x = begin; x < end; ++x) {
    double* const scratch = lines.line(x);
    for (int y = 0; y < p.n; ++y) scratch[y] = p.start(x, y);
    op.apply(scratch, other.line(x));
  }
  int const half_steps = 2 * p.steps;
  for (int half = 0; half < half_steps; ++half) {
    transpose(other, lines);
#pragma omp parallel for schedule(static)
    for (int l = begin; l < end; ++l) {
      op.solve(lines.line(l));
      if (half + 1 < half_steps) op.apply(lines.line(l), other.line(l));
    }
  }
  // Lines are along y again.
  std::vector<Result> of_line(static_cast<std::size_t>(end - begin));
#pragma omp parallel for schedule(static)
  for (int x = begin; x < end; ++x) {
    Result& r = of_line[static_cast<std::size_t>(x - begin)];
    for (int y = 0; y < p.n; ++y) r.add_point(p, x, y, lines.line(x)[y]);
  }
  Result all;
  for (Result const& r : of_line) all.add(r);
  return all;
}

}  // namespace adi
