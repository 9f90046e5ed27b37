// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine is called: in records of measurements, and by its kernel.

#include <string>

namespace nigh::platform {

std::string system_name();  // processor, kernel and its release

// The same for all processes that share a kernel, and so its cpus, whatever they call their host.
std::string kernel_id();

}  // namespace nigh::platform
