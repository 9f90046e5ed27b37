// SPDX-License-Identifier: Apache-2.0
#pragma once
// ADI on threads of many processes. A process has some of the lines, all of their points, and
// between half steps lines become columns: then every half step is work on whole lines.
//
//   half step:  solve each line, apply the explicit side to it, transpose
//
// The explicit side belongs to the next half step, but is along the line that is at hand.

#include <cstdint>
#include <functional>
#include <vector>

namespace adi {

// The problem that ADI solves: heat that spreads on the unit square with a cold border, by
// alternating directions (Peaceman and Rachford 1955). u is kept at n x n inner points.
//
//   (1 - r Dxx) u' = (1 + r Dyy) u      a half step: implicit along x, explicit along y
//   (1 - r Dyy) u" = (1 + r Dxx) u'     the other one; D u(i) = u(i-1) - 2 u(i) + u(i+1)
//
// It begins with two waves. The scheme only shrinks them, by factors that can be written down, so
// that u at the end is known up to rounding.

struct Problem {
  int n = 0;
  int steps = 0;  // of 0.02 in all, whatever their number

  double r() const noexcept;  // time step / (2 h^2)
  double start(int x, int y) const noexcept;
  double end(int x, int y) const noexcept;
};

// The operation on a line of points, in either direction.
class LineOperator {
 public:
  LineOperator(int n, double r);

  void solve(double* line) const noexcept;                    // (1 - r D) u = line, in place
  void apply(double const* line, double* to) const noexcept;  // to = (1 + r D) line

 private:
  double r_;
  std::vector<double> inverse_;  // of the pivots: all lines have the same matrix
};

struct Result {
  double error = 0;            // largest difference from Problem::end()
  std::uint64_t checksum = 0;  // of u at the end

  void add_point(Problem const& problem, int x, int y, double u) noexcept;
  void add(Result const& other) noexcept;                   // of other points
  bool verified() const noexcept { return error <= 1e-9; }  // what rounding explains
};

// All on one thread, written for reading.
Result solve_serially(Problem const& problem);

// Lines [begin, end) of n, n points each.
struct Lines {
  int n = 0, begin = 0, end = 0;
  std::vector<double> points;

  Lines(int of, int first, int last);
  double* line(int l) noexcept { return points.data() + offset(l); }
  double const* line(int l) const noexcept { return points.data() + offset(l); }
  int size() const noexcept { return end - begin; }

 private:
  std::size_t offset(int l) const noexcept {
    return static_cast<std::size_t>(l - begin) * static_cast<std::size_t>(n);
  }
};

// The same lines of every process become the same columns: to.line(l)[i] = line(i)[l].
using Transpose = std::function<void(Lines const& from, Lines& to)>;

// The part of the result that comes from this process's lines: the largest error of all is the
// result's, and so is the sum of all checksums.
Result solve(Problem const& problem, int begin, int end, Transpose const& transpose);

void transpose_alone(Lines const& from, Lines& to);  // of one process, which has all lines

// Which lines process `rank` of so many has.
constexpr int first_line(int n, int rank, int ranks) noexcept {
  return static_cast<int>(static_cast<long long>(n) * rank / ranks);
}

}  // namespace adi
