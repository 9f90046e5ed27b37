// SPDX-License-Identifier: Apache-2.0
#pragma once
// Landscapes: costs of every configuration of a program on a machine, with the noise that measuring
// them has, made from a seed by what is known of such programs; nothing is run.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tune/search.hpp"

namespace nigh_test {

using nigh::tune::Candidate;

struct Landscape {
  std::vector<Candidate> candidates;
  std::vector<double> cost;  // true ones
  double noise = 0.03;       // of one measurement, relative
  double stumble = 0;        // share of runs that somebody else disturbs, by up to a third
  std::mt19937_64 random;

  double measure(int candidate) {
    std::normal_distribution<double> usual(0, noise);
    std::uniform_real_distribution<double> dice(0, 1);
    double const disturbed = dice(random) < stumble ? 1 + dice(random) / 3 : 1;
    return cost[static_cast<std::size_t>(candidate)] * std::exp(usual(random)) * disturbed;
  }
  double least() const { return *std::min_element(cost.begin(), cost.end()); }
};

// Threads x binding x memory x schedule. Time by threads: a serial part, a parallel one that stops
// scaling when memory's bandwidth is used up, and a price for each thread; the other options by
// factors of their own; and everything interacts (a little, 4%, unless said otherwise).
inline Landscape landscape(std::uint64_t seed, int threads, int bindings, int memories,
                           int schedules, double interactions = 0.04) {
  Landscape l;
  l.random.seed(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  auto const between = [&](double low, double high) {
    return low + (high - low) * uniform(l.random);
  };
  std::normal_distribution<double> interaction(0, interactions);
  double const serial = between(0, 0.2), price = between(0, 0.03);
  double const limit = between(2, 2.5 * threads);
  std::vector<double> bind, memory, schedule;
  for (int i = 0; i < bindings; ++i) bind.push_back(between(1, 1.4));
  for (int i = 0; i < memories; ++i) memory.push_back(between(1, 1.6));
  for (int i = 0; i < schedules; ++i) schedule.push_back(between(1, 1.25));
  for (int t = threads - 1; t >= 0; --t)
    for (int b = 0; b < bindings; ++b)
      for (int m = 0; m < memories; ++m)
        for (int s = 0; s < schedules; ++s) {
          double const n = std::pow(2, t);
          double const time = serial + (1 - serial) / std::min(n, limit) + price * t;
          // Few threads do not mind where memory is.
          double const minds = static_cast<double>(t + 1) / threads;
          l.candidates.push_back({t, b, m, s});
          l.cost.push_back(
              10 * time *
              std::pow(bind[static_cast<std::size_t>(b)] * memory[static_cast<std::size_t>(m)],
                       minds) *
              schedule[static_cast<std::size_t>(s)] * std::exp(interaction(l.random)));
        }
  return l;
}

}  // namespace nigh_test
