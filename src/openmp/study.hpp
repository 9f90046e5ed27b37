// SPDX-License-Identifier: Apache-2.0
#pragma once
// A study: every region with as many threads as the environment says, on the same cpus, and timed.
// Nobody is asked for cpus.
//
//   NIGH_OPENMP_TEAM=K      threads
//   NIGH_OPENMP_CPUS=LIST   0,2,1: thread i on the i-th of them; without it, by their numbers
//   NIGH_OPENMP_TIMES=FILE  what the regions took is in FILE.PID at the end (region_times.hpp)

#include "coordinator/protocol/cpus.hpp"
#include "openmp/leases.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Reads the environment. What is wrong with it, or null.
NIGH_HIDDEN char const* begin_study(coordinator::CpuSet const& allowed,
                                    std::uint32_t allowed_cpus) noexcept;

// In the place of a lease; null when there is no study.
NIGH_HIDDEN Lease const* study_team() noexcept;

// Writes the times. For the process that began it, not for those it forked.
NIGH_HIDDEN void end_study() noexcept;

}  // namespace nigh::openmp
