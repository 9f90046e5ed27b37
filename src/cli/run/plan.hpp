// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a request and a machine to the settings for the program. A pure function: `nigh run` carries
// its result out, --dry-run prints it, a test compares it.

#include <functional>
#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/request.hpp"
#include "platform/memory_policy.hpp"

namespace nigh::cli {

struct Plan {
  std::vector<std::string> variables = {};  // "NAME=value"
  std::vector<std::string> removed = {};    // variables that would overrule these
  std::vector<Place> places = {};           // of thread 0, 1, ...; empty: threads stay as they are
  std::vector<int> cpus = {};               // of all places, ascending: the program's affinity mask
  std::optional<platform::MemoryPolicy> memory = {};
  std::string tasks = {};        // of OpenMP regions: prefer or strict; empty: the runtime's
  std::string coordinator = {};  // its socket; it gives regions their cpus; empty: none
  std::string spread = {};       // for nested parallel regions; empty: as the program has them
  std::vector<std::string> notes = {};  // for users who want to know more

  bool operator==(Plan const&) const = default;
};

// The value of a variable in the environment that the program would inherit.
using Inherited = std::function<std::optional<std::string>(std::string_view name)>;

// The error names the option and why it does not fit here. `quota`: of the cgroup, in cpus; bounds
// the number of threads where the user gives none.
result<Plan> make_plan(topology const& machine, Request const& request, Inherited const& inherited,
                       std::optional<double> quota = {});

}  // namespace nigh::cli
