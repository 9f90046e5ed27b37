// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a coordinator as numbers for Prometheus, with the header that HTTP clients expect.

#include <string>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

std::string metrics_answer(Coordinator& core, Time now);

}  // namespace nigh::coordinator
