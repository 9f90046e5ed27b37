// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a program gets its cpus from the coordinator, a parallel region at a time.

#include <optional>
#include <string>
#include <vector>

#include "cli/run/launch_plan.hpp"

namespace nigh::cli {

// Threads about which somebody has decided are left to that: by options, a profile, a binding in
// the environment; or nobody is to share (NIGH_COORDINATOR=off). Why there is no coordinator for
// them then, or an empty text if that goes without saying; nothing: there may be one.
std::optional<std::string> why_uncoordinated(Request const& request, Inherited const& inherited);

// The variable by which somebody has decided where a program's threads go, if there is one.
std::optional<std::string> binding_in(Inherited const& inherited);

// Settings for programs whose cpus are others' between regions: libomp's threads would spin there
// for 200 ms. Nothing where somebody has said how threads wait.
std::vector<std::string> waiting_variables(Inherited const& inherited);

// Finds the coordinator at this socket, or starts one. An error says why there is none.
result<void> ensure_coordinator(std::string const& socket);

}  // namespace nigh::cli
