// SPDX-License-Identifier: Apache-2.0
#pragma once
// The leading configuration, and how sure that is. Repetitions of one candidate are few, but their
// deviations from its undisturbed cost tell about the machine's noise, whichever candidate was
// measured: the deviations of all are pooled, and drawn from again and again (bootstrap).

#include <cstdint>
#include <span>
#include <vector>

#include "tune/candidate.hpp"

namespace nigh::tune {

struct Standing {
  int candidate = 0;
  double cost = 0;           // undisturbed
  double low = 0, high = 0;  // 95% interval of it
  double chance = 0;         // that it is the best of all that were measured
  int runs = 0;
};

double median(std::vector<double> values);

// The cost of a configuration without disturbance: the cost that one run in eight does not exceed,
// of five runs the mean of the two cheapest. Other load only makes runs dearer, so cheap runs tell
// configurations apart where medians tell which one was lucky.
double undisturbed(std::vector<double> costs);

// Of the known ones, best first, and last those whose costs are lower bounds. The seed is for the
// drawing: same measurements, same standings.
std::vector<Standing> standings(std::span<Measured const> measured, std::uint64_t seed);

// How often the cost of `a` is below that of `b`, both known, in such draws.
double chance_below(std::span<Measured const> measured, int a, int b, std::uint64_t seed);

// How often the leader is better than the first by more than luck. The leader was picked for its
// cost, so in each draw it has the luckiest error of all candidates; the first was not picked, and
// has its own.
double chance_of_gain(std::span<Measured const> measured, int leader, std::uint64_t seed);

}  // namespace nigh::tune
