// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lifelines: on whom does a thief hang once it has asked others in vain? (Saraswat, Kambadur,
// Kodali, Grove and Krishnamoorthy, "Lifeline-based Global Load Balancing", PPoPP 2011.)

#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

// The paper's cyclic hypercube: ranks are numbers to a base, and a rank hangs on those whose number
// is its own with one digit one further, around and around; a digit that would lead to a rank that
// does not exist goes on. So nobody has more lifelines than digits, and along them every rank is
// reached from every other: with each digit down to 0, and then with each up to what it shall be,
// from the greatest down, all numbers on the way being below one of the two ranks'.
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
