// SPDX-License-Identifier: Apache-2.0
#pragma once
// What there is to try for a program of MPI ranks: how many on a host, with how many threads each,
// so that how many cores stay off, threads sharing cores or not, and who next to whom.

#include <nigh/result.hpp>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "cli/tune/launcher.hpp"
#include "cli/tune/space.hpp"

namespace nigh::cli {

// Of a host as this one; without choices the usual values, but no schedules and memory policies.
// Candidate 0 is one that the launcher places: the most ranks, and as many threads in each as there
// is room for. The error is about a value that was asked for.
// `quota`: of the cgroup, in cpus, which the ranks of a host share; threads in it that go beyond
// are tried only if asked for.
result<Space> space_of_ranks(topology const& machine, Choices const& choices,
                             Inherited const& inherited, std::optional<double> quota = {});

// What stands before the program of the ranks. `nigh`: this program, as a shell finds it.
std::vector<std::string> words_before_rank(Request const& request, Ranks const& ranks,
                                           std::string const& nigh);

// What the launcher is told; on so many hosts.
LauncherValues values_of(Request const& request, Ranks const& ranks, int hosts,
                         std::string const& nigh);

}  // namespace nigh::cli
