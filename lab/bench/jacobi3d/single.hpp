// SPDX-License-Identifier: Apache-2.0
#pragma once
// One variant alone, as a plain program: for the virtual machine with real NUMA, and for
// profilers. The sweeps lie between marks for the locality meter.

#include "bench/jacobi3d/options.hpp"

namespace bench {

void run_single(JacobiOptions const& options, bool report);

}  // namespace bench
