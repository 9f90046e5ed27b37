// SPDX-License-Identifier: Apache-2.0
#include "adi/solver.hpp"

#include <algorithm>
#include <cstddef>

namespace adi {

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
