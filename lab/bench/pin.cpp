// SPDX-License-Identifier: Apache-2.0
#include "bench/pin.hpp"

#include <pthread.h>
#include <sched.h>

namespace bench {

bool pin_this_thread(int cpu) { return allow_this_thread({cpu}); }

bool allow_this_thread(std::vector<int> const& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int const cpu : cpus) CPU_SET(static_cast<unsigned>(cpu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
}

}  // namespace bench
