// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's facts about the calling thread, for programs that report them to tests.

#include <sched.h>

#include <string>

// Cpus it may run on, "0,2"; what sched_getaffinity says.
inline std::string allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::string text;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}
