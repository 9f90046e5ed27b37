// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program and looks at it from outside now and then.

#include <nigh/topology.hpp>

#include "platform/launch.hpp"

namespace nigh::cli {

// Ends as the program ends: throws ExitStatus, or dies of the signal that ended it. Reports before.
[[noreturn]] void run_watched(platform::Launch const& launch, topology const& machine,
                              platform::Complain const& say);

}  // namespace nigh::cli
