// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the coordinator is, or should be.

#include <string>

namespace nigh::cli {

// $NIGH_SOCKET; otherwise the whole system's, if there is one; otherwise the user's own.
std::string coordinator_socket();

}  // namespace nigh::cli
