// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results of simulations as JSON lines (docs/results-schema.md). Without a date or a host: the same
// simulation gives the same bytes.

#include <map>
#include <string>
#include <vector>

#include "sim/machine.hpp"

namespace nigh::cli {

struct SimResult {
  std::string bench, variant;
  std::map<std::string, long> params;
  std::map<std::string, std::string> settings;  // params that are words
  std::string metric, unit;
  std::vector<double> samples;  // one a seed
  std::map<std::string, double> counters;
};

std::string json_line(SimResult const& result, sim::Machine const& machine);

}  // namespace nigh::cli
