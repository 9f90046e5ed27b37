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

bool has_said_how_to_wait(Inherited const& inherited);

// Settings for programs that share cpus: their threads wait so that the shim can have them sleep
// (policy/cpus/team_waiting.hpp), and those of OpenBLAS that are no OpenMP's sleep after 2^16 cycles
// instead of 2^26. None where somebody has said how threads wait.
std::vector<std::string> waiting_variables(Inherited const& inherited);

// Finds the coordinator at this socket, or starts one. An error says why there is none.
result<void> ensure_coordinator(std::string const& socket);

}  // namespace nigh::cli
