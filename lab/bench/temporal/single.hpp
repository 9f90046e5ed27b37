// SPDX-License-Identifier: Apache-2.0
#pragma once
// One variant alone, facts a line.

#include "bench/temporal/options.hpp"

namespace bench {

// std::runtime_error when the field differs from the serial reference.
void run_single(TemporalOptions const& options);

}  // namespace bench
