// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output of nigh sim allocation: text and JSON lines.

#include <string>
#include <vector>

#include "sim/hosts/allocation.hpp"
#include "sim/machine.hpp"

namespace nigh::cli {

struct AllocationStudy {
  sim::RequestOptions request_options;
  std::vector<sim::RequestCell> requests;
  sim::SetOptions small_options, large_options;
  std::vector<sim::WayCell> small, large;
};

std::string describe(AllocationStudy const& study, sim::Machine const& machine);
std::string result_lines(AllocationStudy const& study, sim::Machine const& machine);

}  // namespace nigh::cli
