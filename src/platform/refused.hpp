// SPDX-License-Identifier: Apache-2.0
#pragma once
// The complaint about a system call on memory that has failed.

#include <cerrno>
#include <nigh/result.hpp>
#include <string>
#include <system_error>
#include <utility>

namespace nigh::platform {

inline error refused(char const* call, int reason) {
  std::string what = std::string(call) + " refused: " + std::generic_category().message(reason);
  if (reason == ENOSYS) what += " (a kernel without NUMA support, or a sandbox)";
  if (reason == EPERM) what += " (a sandbox or container forbids it)";
  return error{std::move(what)};
}

}  // namespace nigh::platform
