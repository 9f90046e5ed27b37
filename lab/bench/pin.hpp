// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pinning threads that belong to somebody else's runtime.

#include <pthread.h>
#include <sched.h>

#include <vector>

namespace bench {

// to run on any of them
inline bool allow_this_thread(std::vector<int> const& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int const cpu : cpus) CPU_SET(static_cast<unsigned>(cpu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

// false when the system refuses
inline bool pin_this_thread(int cpu) { return allow_this_thread({cpu}); }

}  // namespace bench
