// SPDX-License-Identifier: Apache-2.0
#pragma once
// Does a program get its cpus from the coordinator, a parallel region at a time?

#include <optional>
#include <string>
#include <vector>

#include "cli/run/launch_plan.hpp"

namespace nigh::cli {

// Not if the user has decided about its threads: by options, a profile, a binding in the
// environment, or NIGH_COORDINATOR=off. The result says why there is no coordinator, or is an empty
// text if that is obvious; nothing: there may be one.
std::optional<std::string> why_uncoordinated(Request const& request, Inherited const& inherited);

// The variable by which the user has decided where a program's threads go, if there is one.
std::optional<std::string> binding_in(Inherited const& inherited);

bool has_said_how_to_wait(Inherited const& inherited);

// Settings for programs that share cpus: their threads wait in a way that the shim can change to
// sleeping (policy/cpus/team_waiting.hpp), and OpenBLAS's own threads sleep after 2^16 cycles
// instead of 2^26. None where the user has said how threads wait.
std::vector<std::string> waiting_variables(Inherited const& inherited);

// Finds the coordinator at this socket, or starts one. An error says why there is none. Unless
// `tells`, a coordinator that cannot start leaves no message.
result<void> ensure_coordinator(std::string const& socket, bool tells);

}  // namespace nigh::cli
