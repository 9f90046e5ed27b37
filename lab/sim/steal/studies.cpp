// SPDX-License-Identifier: Apache-2.0
#include "sim/steal/studies.hpp"

#include <algorithm>

namespace nigh::sim {

namespace {

using policy::ChunkChoice;
using policy::VictimChoice;

constexpr double hotslaw_shared_part = 0.5;

HotslawWay way(std::string name, VictimChoice victims, ChunkChoice chunks, int fixed = 1) {
  return {std::move(name),
          {victims, chunks, static_cast<std::size_t>(fixed), hotslaw_shared_part, {}}};
}

void add_each_chunk(std::vector<HotslawWay>& ways, std::string const& name, ChunkChoice chunks) {
  for (int fixed : hotslaw_chunks)
    ways.push_back(way(name + std::to_string(fixed), VictimChoice::hierarchical, chunks, fixed));
}

}  // namespace

std::vector<HotslawWay> hotslaw_ways() {
  std::vector<HotslawWay> ways{way("random+half", VictimChoice::random, ChunkChoice::half),
                               way("hvs+half", VictimChoice::hierarchical, ChunkChoice::half)};
  add_each_chunk(ways, "hvs+", ChunkChoice::one);
  add_each_chunk(ways, "hvs+hcs", ChunkChoice::hierarchical);
  return ways;
}

std::vector<HotslawWay> hotslaw_slow_network_ways() {
  std::vector<HotslawWay> ways{way("hvs+half", VictimChoice::hierarchical, ChunkChoice::half)};
  add_each_chunk(ways, "hvs+hcs", ChunkChoice::hierarchical);
  return ways;
}

HotslawWay hotslaw_smp_way() { return way("hvs+1", VictimChoice::hierarchical, ChunkChoice::one); }

namespace {

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
