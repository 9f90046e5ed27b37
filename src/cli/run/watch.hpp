// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program and samples it from outside.

#include <nigh/topology.hpp>

#include "platform/launch.hpp"

namespace nigh::cli {

// Reports, then ends as the program ended: throws ExitStatus, or dies of the signal that ended it.
[[noreturn]] void run_watched(platform::Launch const& launch, topology const& machine,
                              platform::Complain const& say);

}  // namespace nigh::cli
