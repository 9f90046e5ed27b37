// SPDX-License-Identifier: Apache-2.0
#pragma once
// The shim in its host: what it was told, whether it acts at all, how it begins and ends.

#include <cstdint>

#include "openmp/team_size.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct Process {
  bool acts = false;         // false: passes everything on
  bool tells = false;        // NIGH_VERBOSE
  bool is_helper = false;    // of the program that `nigh run` has started
  bool is_forked = false;    // a child of the process that was started
  bool waits_awake = false;  // drones, for a while
  bool fixes_teams = false;  // OMP_DYNAMIC says that teams keep their size
  std::uint32_t cpus = 0;    // that it may use
  coordinator::CpuSet allowed{};
};
NIGH_HIDDEN Process const& process() noexcept;

// For the line at the end. Only those of a process that tells are counted.
NIGH_HIDDEN void count_region(Lease const& lease) noexcept;

// The thread's leases end with it. False: there is no memory.
NIGH_HIDDEN bool give_leases(Thread& me) noexcept;

}  // namespace nigh::openmp
