// SPDX-License-Identifier: Apache-2.0
#pragma once
// ADI on threads of many processes. A process has some of the lines, all of their points, and
// between half steps lines become columns: then every half step is work on whole lines.
//
//   half step:  solve each line, apply the explicit side to it, transpose
//
// The explicit side belongs to the next half step, but is along the line that is at hand.

#include <functional>
#include <vector>

#include "adi/problem.hpp"

namespace adi {

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
