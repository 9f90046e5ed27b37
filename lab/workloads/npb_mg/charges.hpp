// SPDX-License-Identifier: Apache-2.0
#pragma once
// The right side: -1 at the ten points with the smallest random numbers, +1 at those with the
// largest.

#include <vector>

#include "npb_random.hpp"

namespace npb_mg {

namespace generator = npb_random;

struct Point {
  int i = 0, j = 0, k = 0;  // 1 .. n
  bool operator==(Point const&) const = default;
};

struct Charges {
  std::vector<Point> plus;   // ten, of the largest number first
  std::vector<Point> minus;  // ten, of the smallest number first
};

// Points are numbered i first, then j, then k. Every thread skips ahead to planes of its own.
Charges find_charges(int n, int threads);

}  // namespace npb_mg
