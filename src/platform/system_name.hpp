// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine is called in records of measurements.

#include <string>

namespace nigh::platform {

std::string system_name();  // processor, kernel and its release

}  // namespace nigh::platform
