// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a coordinator as numbers for Prometheus, with the header that HTTP clients expect.

#include <string>
#include <vector>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

// As Coordinator::statuses() has them: the last one is for the host alone.
std::string metrics_answer(std::vector<Status> const& statuses);

}  // namespace nigh::coordinator
