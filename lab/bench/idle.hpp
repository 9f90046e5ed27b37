// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much cpu a program burns while it has nothing to do.

namespace bench {

// Cpus used by this process (all threads, user and system) on average over so many seconds of
// sleep, beginning `settle_ms` from now.
double cpus_used_while_asleep(double seconds, int settle_ms);

}  // namespace bench
