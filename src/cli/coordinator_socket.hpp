// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the coordinator is, or should be.

#include <string>

namespace nigh::cli {

// $NIGH_SOCKET; otherwise the whole system's, if one answers; otherwise the user's own.
std::string coordinator_socket();

// The complaint of a command that got no answer there, for this reason. Where nothing answers at all, it
// says how to start a coordinator.
std::string no_coordinator(std::string const& socket, std::string const& why);

// A command that needs the coordinator ends with this status where there is none.
constexpr int status_without_coordinator = 1;

}  // namespace nigh::cli
