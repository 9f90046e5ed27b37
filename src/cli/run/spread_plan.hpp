// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings for a program whose nested parallel regions are to be spread (`nigh run --spread`);
// the shim carries them out (src/openmp/nested_plan.hpp).

#include <nigh/spread.hpp>
#include <string>

#include "cli/run/coordination.hpp"

namespace nigh::cli {

// Call it when it is known whether the program has a coordinator. Cpus that were chosen for its
// threads stay its cpus; the spread decides which thread is where. The error names what speaks
// against it.
result<void> plan_spread(topology const& machine, spread how, bool is_bound_by_option,
                         Inherited const& inherited, Plan& plan);

// For an option that names the file of NIGH_SPREADS: the program may work in another folder.
result<std::string> spreads_variable(std::string const& file);

}  // namespace nigh::cli
