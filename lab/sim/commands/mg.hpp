// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output of nigh sim mg: text and JSON lines.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine.hpp"
#include "sim/mg/study.hpp"

namespace nigh::cli {

struct MgRuns {
  sim::Machine machine;
  sim::MgClass size{};
  std::uint64_t seed = 1;
  sim::MgStudy study;
  std::vector<sim::MgStatement> statements;  // of a machine with two sockets
};

std::string describe(MgRuns const& runs);
std::string result_lines(MgRuns const& runs);

}  // namespace nigh::cli
