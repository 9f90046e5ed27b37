// SPDX-License-Identifier: Apache-2.0
#pragma once
// NPB MG as loops over planes: which loops an iteration runs, and which planes a step of each reads
// and writes. Level k has 2^k points a side and a ghost layer around them.

#include <cstdint>
#include <string_view>
#include <vector>

namespace nigh::sim::mg {

enum class Array : std::uint8_t { u, v, r };
enum class Operator : std::uint8_t { zero, restriction, prolongation, residual, smoother };

struct Loop {
  Operator what = Operator::zero;
  int level = 0;           // the finer one, where two take part
  Array array = Array::u;  // of zero
  bool is_finest = false;  // the residual is that of v, else of r in place
};

// The use that a step makes of one plane.
struct PlaneUse {
  Array array = Array::u;
  int level = 0, plane = 0;
  bool reads = false, writes = false;
};

constexpr int side(int level) noexcept { return 1 << level; }

// Steps of a loop: interior planes; of two levels, the coarser one's; zero has the ghosts, too.
constexpr int steps(Loop const& loop) noexcept {
  switch (loop.what) {
    case Operator::zero:
      return side(loop.level) + 2;
    case Operator::restriction:
      return side(loop.level - 1);
    case Operator::prolongation:
      return side(loop.level - 1) + 1;
    case Operator::residual:
    case Operator::smoother:
      break;
  }
  return side(loop.level);
}

// Additions and multiplications of a step, for each point of a plane at the loop's level.
constexpr double operations(Operator what) noexcept {
  switch (what) {
    case Operator::zero:
      return 0;
    case Operator::restriction:
    case Operator::prolongation:
      return 24.0 / 4;  // 24 for each coarse point, of which a plane has a quarter
    case Operator::residual:
    case Operator::smoother:
      break;
  }
  return 19;
}

void plane_uses(Loop const& loop, int step, std::vector<PlaneUse>& uses);

// From the finest level on down and back up, and the residual behind it.
std::vector<Loop> iteration(int finest);
// The loops that first write each plane, u's finest ones left out.
std::vector<Loop> start(int finest);

}  // namespace nigh::sim::mg
