// SPDX-License-Identifier: Apache-2.0
#pragma once
// Looks again and again, and does what keys say, until the user leaves or a signal ends it.

#include <string>

#include "cli/top/machine.hpp"

namespace nigh::cli::top {

// The exit status.
int watch(std::string const& socket, MachineTree const& machine, double delay_s);

}  // namespace nigh::cli::top
