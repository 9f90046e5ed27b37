// SPDX-License-Identifier: Apache-2.0
#pragma once
// The three ways `nigh topo` shows a machine. Formats: docs/topology.md.

#include <cstdint>
#include <nigh/topology.hpp>
#include <string>

#include "cli/top/frame.hpp"

namespace nigh::cli {

// Drawn with these signs.
std::string topo_text(topology const& machine, top::Signs const& signs);
std::string topo_json(topology const& machine);
std::string topo_svg(topology const& machine);

// "32 MiB", "7.8 GiB".
std::string size_text(std::uint64_t bytes);

// "L3 32 MiB", "Package 0", "core 4", "node 1, 64 GiB".
std::string label_of(topology_object const& o);

}  // namespace nigh::cli
