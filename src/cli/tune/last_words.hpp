// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a run failed, from what it printed: one line for a person.

#include <string>

namespace nigh::cli {

// Launchers of MPI programs end with boxes of ruled lines. What the program said before is the
// reason; if that is nothing, the beginning of the box is.
std::string reason_of_launcher(std::string const& output);

}  // namespace nigh::cli
