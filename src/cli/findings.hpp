// SPDX-License-Identifier: Apache-2.0
#pragma once
// What limits nigh on a machine, told from plain facts about it.

#include <string>
#include <vector>

#include "platform/limits.hpp"

namespace nigh::cli {

struct Facts {
  platform::limits limits;
  platform::probes probes;
  int cpus_present = 0;
  int cpus_allowed = 0;
  int cores_allowed = 0;  // that hold an allowed cpu
  int domains = 0;        // with cpus
  // Running programs that have thread pools which are leased no cpus: "python3 (4711): OpenBLAS".
  std::vector<std::string> pools;
};

struct Finding {
  std::string id;  // stable, for scripts
  std::string what;
  std::string why;
  std::string what_to_do;
};

// Most limiting first. Reads nothing but its argument.
std::vector<Finding> diagnose(Facts const& facts);

}  // namespace nigh::cli
