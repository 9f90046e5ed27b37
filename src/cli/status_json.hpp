// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a coordinator, for scripts: docs/coordinator.md.

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program_process.hpp"
#include "cli/region_name.hpp"
#include "coordinator/client/status.hpp"

namespace nigh::cli {

nlohmann::ordered_json status_json(std::string const& socket, coordinator::HostStatus const& all);

std::string text_of(nlohmann::ordered_json const& json);

// The names of the regions of many processes, with the files of each looked at once: a process may
// have many connections.
class ProcessRegions {
 public:
  // Where the program's region is, for people; empty when it has none.
  std::string code_of(coordinator::Status const& program);

 private:
  std::map<ProgramProcess, RegionNames> by_process_;
};

}  // namespace nigh::cli
