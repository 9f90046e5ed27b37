// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a coordinator says of the host and of all its programs, for people.

#include <nigh/result.hpp>
#include <string>
#include <vector>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

struct HostStatus {
  Status host;                   // of it, only the part about the host
  std::vector<Status> programs;  // by number
};

// An error says that there is no coordinator, or that it does not answer.
// It waits so long for each answer.
result<HostStatus> query_status(std::string const& socket, int patience_ms = 2000);

}  // namespace nigh::coordinator
