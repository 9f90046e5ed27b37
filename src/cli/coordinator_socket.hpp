// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the coordinator is, or is to be.

#include <string>

namespace nigh::cli {

// $NIGH_SOCKET; else the whole system's, where there is one; else the user's own.
std::string coordinator_socket();

}  // namespace nigh::cli
