// SPDX-License-Identifier: Apache-2.0
#pragma once
// Profiles: the options that `nigh tune` found best for a program on a machine, for `nigh run
// --profile`. Format: docs/tune.md.

#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <string>

#include "cli/run/request.hpp"

namespace nigh::cli {

// The properties that must be the same for a profile to make sense: of the whole machine, allowed
// or not.
struct MachineShape {
  std::string levels;  // "package:2 domain:4 l3:4 core:16 cpu:32"
  int cpus = 0;
  int domains = 0;

  bool operator==(MachineShape const&) const = default;
};
MachineShape shape_of(topology const& machine);

std::string profile_json(Request const& request, MachineShape const& machine);
// The error names the mistake in the text or, unless forced, the difference between the machines.
result<Request> parse_profile(std::string const& text, MachineShape const& here, bool force);

// From a file; throws UsageError naming it.
Request read_profile(std::string const& file, topology const& machine, bool force);

}  // namespace nigh::cli
