// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples again and again, and obeys keys, until the user leaves or a signal ends it.

#include <string>

#include "cli/top/machine.hpp"

namespace nigh::cli::top {

// The exit status.
int watch(std::string const& socket, MachineTree const& machine, double delay_s);

}  // namespace nigh::cli::top
