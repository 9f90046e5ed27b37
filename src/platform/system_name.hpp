// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of this machine and of this moment for records of measurements, and its kernel's.

#include <string>

namespace nigh::platform {

std::string system_name();  // processor, kernel and its release

std::string now_utc();  // as in ISO 8601: "2026-01-31T08:30:00Z"

// The same for all processes that share a kernel, and so its cpus, whatever they call their host.
std::string kernel_id();

}  // namespace nigh::platform
