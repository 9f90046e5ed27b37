// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cpus threads run on.

#include <nigh/result.hpp>
#include <span>
#include <vector>

namespace nigh::platform {

// Restricts the calling thread to these cpus (Linux's numbers). An error when the system refuses.
result<void> pin_this_thread(std::span<int const> cpus);

// Cpus the calling thread may run on, ascending; empty when the system will not say.
std::vector<int> affinity_of_this_thread();

// The same of a thread of any process; empty when it is gone.
std::vector<int> affinity_of_thread(int thread);

// Cpus this program was given, ascending: those of the calling thread, and in an OpenMP program
// that binds its threads (OMP_PROC_BIND) the cpus of all its places. Such a program's initial
// thread is pinned to the first place before main() begins, so its own mask says nothing about the
// program.
std::vector<int> cpus_given();

int current_cpu() noexcept;  // -1 when unknown
int online_cpus() noexcept;  // of this host, allowed or not; -1 when unknown

}  // namespace nigh::platform
