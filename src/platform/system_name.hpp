// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of this machine: for records of measurements, and its kernel's.

#include <string>

namespace nigh::platform {

std::string system_name();  // processor, kernel and its release

// The same for all processes that share a kernel, and so its cpus, whatever they call their host.
std::string kernel_id();

}  // namespace nigh::platform
