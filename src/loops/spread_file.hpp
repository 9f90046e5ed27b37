// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps what spread sites have learnt, from one run of a program to the next
// (settings/learnt_spreads.hpp).

#include <nigh/topology.hpp>
#include <optional>
#include <string>

#include "settings/learnt_spreads.hpp"

namespace nigh::loops {

// "package:1 domain:1 l3:1 core:2 cpu:2"
std::string shape_of(topology const& machine);

// Nothing: NIGH_SPREADS names no file, the file has no such site, or it cannot be used, which is
// said once on standard error.
std::optional<policy::SpreadState> read_spread(topology const& machine, std::string const& name,
                                               int workers);
// Leaves a whole file, with all other sites in it. A file that cannot be used stays as it is.
void write_spread(std::string const& machine, settings::LearntSpread line);

}  // namespace nigh::loops
