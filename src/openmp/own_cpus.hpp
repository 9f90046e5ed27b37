// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cpus that the program may use, as it would without nigh: those that it began with, until the
// cpuset of its cgroup changes, or a user frees it again. Where it began with all of its cpuset, a
// thread that nigh frees may use all cpus, as far as the system is concerned: then the system
// itself lets it use those that the cpuset gains.

#include <sched.h>

#include <cstdint>

#include "coordinator/protocol/cpus.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct OwnCpus {
  cpu_set_t set;
  coordinator::CpuSet allowed;  // the same
  std::uint32_t count;
  OwnCpus const* next;  // an earlier one
};

// Valid for ever.
NIGH_HIDDEN OwnCpus const& own_cpus() noexcept;

// At the start of the process; false: they are not known.
NIGH_HIDDEN bool begin_own_cpus() noexcept;

// From any thread. The coordinator hears of it.
NIGH_HIDDEN void renew_own_cpus(cpu_set_t const&) noexcept;

// A cpuset may give the program more than it has.
NIGH_HIDDEN bool may_gain_cpus() noexcept;

// ---- of the calling thread, by the kernel

NIGH_HIDDEN bool read_cpus(cpu_set_t&, pid_t of = 0) noexcept;  // or of another one
// Not by sched_setaffinity(), which thread.cpp takes for the program's call. False: refused.
NIGH_HIDDEN bool set_cpus(cpu_set_t const&) noexcept;
// To those of the program.
NIGH_HIDDEN bool set_own_cpus() noexcept;
// Sets all that its cpuset has, and reads them.
NIGH_HIDDEN bool set_cpuset(cpu_set_t&) noexcept;

}  // namespace nigh::openmp
