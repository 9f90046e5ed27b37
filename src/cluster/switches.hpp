// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which switch of the network a host hangs off, where somebody says so: a file, or the launcher.

#include <nigh/result.hpp>
#include <string>
#include <string_view>

#include "cluster/layout.hpp"

namespace nigh::cluster {

// As Slurm tells each process: SLURM_TOPOLOGY_ADDR, "core.rack7.n12", and its pattern,
// "switch.switch.node". The last before the host; empty where nobody knows.
std::string switch_from_slurm(char const* address, char const* pattern);

// The text of NIGH_SWITCHES's file: a host's name and its switch's on each line; '#' begins a
// comment. Hosts it does not name, with or without their domain, are at no known switch. An error
// names the line; nothing is changed then.
result<void> take_switches(Layout& layout, std::string_view text);

}  // namespace nigh::cluster
