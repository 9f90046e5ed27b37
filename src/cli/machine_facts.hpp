// SPDX-License-Identifier: Apache-2.0
#pragma once
// The facts about this host that its findings are derived from.

#include <nigh/topology.hpp>

#include "cli/findings.hpp"

namespace nigh::cli {

Facts facts_of(topology const& machine);

}  // namespace nigh::cli
