// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output of nigh sim hotslaw: text and JSON lines.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine.hpp"
#include "sim/steal/hotslaw.hpp"

namespace nigh::cli {

struct HotslawCell {
  std::string benchmark;
  sim::HotslawWay way;
  std::vector<sim::StealOutcome> runs;  // one a seed

  double ms() const;  // median
  double steals() const;
  double inline_share() const;
};

struct HotslawStudy {
  sim::StealMachine cluster, slow_network, smp;
  int seeds = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> benchmarks;
  std::vector<HotslawCell> cells;            // on the cluster
  std::vector<HotslawCell> on_slow_network;  // on the same with a slower network
  std::vector<HotslawCell> on_smp;           // on one host

  // Whose bound of queues and way of taking chunks are those of all cells.
  sim::StealRules const& rules() const { return cells.front().way.rules; }
};

std::string describe(HotslawStudy const& study, sim::Machine const& machine);
std::string result_lines(HotslawStudy const& study, sim::Machine const& machine,
                         sim::Machine const& smp);

}  // namespace nigh::cli
