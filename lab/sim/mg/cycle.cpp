// SPDX-License-Identifier: Apache-2.0
#include "sim/mg/cycle.hpp"

namespace nigh::sim::mg {

void plane_uses(Loop const& loop, int step, std::vector<PlaneUse>& uses) {
  uses.clear();
  int const k = loop.level;
  auto const read = [&](Array a, int level, int plane) {
    uses.push_back({a, level, plane, true, false});
  };
  auto const write = [&](Array a, int level, int plane) {
    uses.push_back({a, level, plane, false, true});
  };
  auto const change = [&](Array a, int level, int plane) {
    uses.push_back({a, level, plane, true, true});
  };
  switch (loop.what) {
    case Operator::zero:
      return write(loop.array, k, step);
    case Operator::restriction: {
      int const coarse = step + 1;
      for (int p = 2 * coarse - 1; p <= 2 * coarse + 1; ++p) read(Array::r, k, p);
      return write(Array::r, k - 1, coarse);
    }
    case Operator::prolongation:
      for (int p = step; p <= step + 1; ++p) read(Array::u, k - 1, p);
      for (int p = 2 * step; p <= 2 * step + 1; ++p) change(Array::u, k, p);
      return;
    case Operator::residual:
      for (int p = step; p <= step + 2; ++p) read(Array::u, k, p);
      if (!loop.is_finest) return change(Array::r, k, step + 1);
      read(Array::v, k, step + 1);
      return write(Array::r, k, step + 1);
    case Operator::smoother:
      for (int p = step; p <= step + 2; ++p) read(Array::r, k, p);
      return change(Array::u, k, step + 1);
  }
}

std::vector<Loop> iteration(int finest) {
  std::vector<Loop> loops;
  auto const then = [&](Operator what, int level) {
    loops.push_back({what, level, Array::u, level == finest});
  };
  for (int k = finest; k > 1; --k) then(Operator::restriction, k);
  then(Operator::zero, 1);
  then(Operator::smoother, 1);
  for (int k = 2; k < finest; ++k) {
    then(Operator::zero, k);
    then(Operator::prolongation, k);
    then(Operator::residual, k);
    then(Operator::smoother, k);
  }
  then(Operator::prolongation, finest);
  then(Operator::residual, finest);
  then(Operator::smoother, finest);
  then(Operator::residual, finest);
  return loops;
}

std::vector<Loop> start(int finest) {
  std::vector<Loop> loops{{Operator::zero, finest, Array::v, true},
                          {Operator::residual, finest, Array::u, true}};
  auto const rest = iteration(finest);
  loops.insert(loops.end(), rest.begin(), rest.end());
  return loops;
}

}  // namespace nigh::sim::mg
