// SPDX-License-Identifier: Apache-2.0
#include "sim/steal/scale.hpp"

#include <algorithm>

namespace nigh::sim {

namespace {

using policy::ChunkChoice;
using policy::VictimChoice;

constexpr policy::SearchPause short_rests{1000, 20'000}, long_rests{1000, 1'000'000};
constexpr double part = 0.5;  // shared, as HotSLAW's

}  // namespace

std::vector<ScaleWay> scale_ways() {
  StealRules const both{VictimChoice::hierarchical, ChunkChoice::hierarchical, 1, part, long_rests};
  auto random = both, eager = both;
  random.victims = VictimChoice::random;
  random.chunks = ChunkChoice::half;
  eager.pause = short_rests;
  return {{"random+half", random, 0},
          {"hvs+hcs", both, 0},
          {"hvs+hcs/16", both, 16},
          {"hvs+hcs/4", both, 4},
          {"hvs+hcs/4/20us", eager, 4}};
}

StealMachine with_attempts(StealMachine machine, int most) {
  if (most <= 0) return machine;
  auto& plan = machine.plan;
  plan.attempts_per_round = 0;
  for (auto& rung : plan.levels) {
    rung.attempts = std::min(rung.attempts, most);
    plan.attempts_per_round += rung.attempts;
  }
  return machine;
}

}  // namespace nigh::sim
