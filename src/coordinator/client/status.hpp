// SPDX-License-Identifier: Apache-2.0
#pragma once
// The host and all its programs, as the coordinator describes them to people.

#include <nigh/result.hpp>
#include <string>
#include <vector>

#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

struct HostStatus {
  Status host;                   // only its part about the host
  std::vector<Status> programs;  // by number
};

// An error says that there is no coordinator, or that it does not answer.
// Waits `patience_ms` for each answer.
result<HostStatus> query_status(std::string const& socket, int patience_ms = 2000);

}  // namespace nigh::coordinator
