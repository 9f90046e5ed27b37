// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configurations of a program of MPI ranks: how many ranks on a host, with how many threads
// each, so that so many cores stay off, whether threads share cores, and the order of the ranks.

#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "cli/tune/launcher.hpp"
#include "cli/tune/space.hpp"

namespace nigh::cli {

// For hosts like this one; without choices, the usual values, but no schedules and memory policies.
// Candidate 0 is one that the launcher places: the most ranks, with as many threads each as there
// is room for. The error is about a requested value. `quota`: of the cgroup, in cpus, which the
// ranks of a host share; threads beyond it are tried only on request.
result<Space> space_of_ranks(topology const& machine, Choices const& choices,
                             Inherited const& inherited, std::optional<double> quota = {});

// The words before the program of the ranks. `nigh`: this program, as a shell finds it.
std::vector<std::string> words_before_rank(Request const& request, Ranks const& ranks,
                                           std::string const& nigh);

// The launcher's options, for so many hosts.
LauncherValues values_of(Request const& request, Ranks const& ranks, int hosts,
                         std::string const& nigh);

}  // namespace nigh::cli
