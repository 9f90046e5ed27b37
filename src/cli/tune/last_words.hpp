// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a run failed, from its output: one line for a person.

#include <string>

namespace nigh::cli {

// Launchers of MPI programs end with boxes of ruled lines. The program's text before them is the
// reason; without such text, the beginning of the box is.
std::string reason_of_launcher(std::string const& output);

}  // namespace nigh::cli
