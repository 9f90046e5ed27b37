// SPDX-License-Identifier: Apache-2.0
#pragma once
// One variant alone, as a plain program: what the guest with real NUMA runs, and what a person runs
// under a profiler. The sweeps lie between marks for the locality meter.

#include "bench/jacobi3d/options.hpp"

namespace bench {

void run_single(JacobiOptions const& options, bool report);

}  // namespace bench
