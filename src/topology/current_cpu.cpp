// SPDX-License-Identifier: Apache-2.0
#include <nigh/topology.hpp>

#include "platform/affinity.hpp"

namespace nigh {

int current_cpu() noexcept { return platform::current_cpu(); }

}  // namespace nigh
