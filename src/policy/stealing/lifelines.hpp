// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lifelines: from which ranks does a thief wait for tasks once it has asked others in vain?
// (Saraswat, Kambadur, Kodali, Grove and Krishnamoorthy, "Lifeline-based Global Load Balancing",
// PPoPP 2011.)

#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

// The paper's cyclic hypercube: ranks are numbers to a base, and a rank has a lifeline to each rank
// whose number is its own with one digit increased by one, cyclically; a digit that would lead to a
// rank that does not exist goes on. So no rank has more lifelines than digits, and along them every
// rank is reached from every other: first each digit goes down to 0, then each up to its value,
// from the greatest digit down; all numbers on the way are below one of the two ranks.
inline std::vector<int> lifelines(int self, int ranks, int base = 2) {
  NIGH_ASSERT(0 <= self && self < ranks && base >= 2, "a rank has a number");
  std::vector<int> buddies;
  for (std::int64_t unit = 1; unit < ranks; unit *= base) {
    std::int64_t const digit = self / unit % base;
    for (int step = 1; step < base; ++step) {
      auto const buddy = self + ((digit + step) % base - digit) * unit;
      if (buddy >= ranks) continue;
      buddies.push_back(static_cast<int>(buddy));
      break;
    }
  }
  return buddies;
}

}  // namespace nigh::policy
