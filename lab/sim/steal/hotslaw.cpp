// SPDX-License-Identifier: Apache-2.0
#include "sim/steal/hotslaw.hpp"

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

}  // namespace nigh::sim
