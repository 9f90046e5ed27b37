// SPDX-License-Identifier: Apache-2.0
#include "bench/pin.hpp"

#include <pthread.h>
#include <sched.h>

namespace bench {

bool pin_this_thread(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(cpu), &one);
  return pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0;
}

}  // namespace bench
