// SPDX-License-Identifier: Apache-2.0
#pragma once
// The limits of nigh on a machine, derived from plain facts about it.

#include <string>
#include <vector>

#include "platform/limits.hpp"

namespace nigh::cli {

struct Facts {
  platform::limits limits;
  platform::probes probes;
  int cpus_present = 0;
  int cpus_allowed = 0;
  int cores_allowed = 0;  // those with an allowed cpu
  int domains = 0;        // with cpus
  bool has_numa_vm = true;  // beside this program
  // Running programs with thread pools that get no leased cpus: "python3 (4711): OpenBLAS".
  std::vector<std::string> pools;
};

struct Finding {
  std::string id;  // stable, for scripts
  std::string what;
  std::string why;
  std::string what_to_do;
};

// The most limiting first. Reads nothing except its argument.
std::vector<Finding> diagnose(Facts const& facts);

}  // namespace nigh::cli
