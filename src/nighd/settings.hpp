// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of nighd.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "policy/cpus/core_allocation.hpp"

namespace nigh::nighd {

struct Settings {
  std::filesystem::path socket;                   // empty: where this user's programs look for it
  std::filesystem::path metrics;                  // empty: none
  std::optional<std::filesystem::path> profiles;  // nothing: the usual place; empty: none are kept
  std::int64_t idle_exit_s = 60;                  // 0: never
  std::int64_t slice_ms = 50;
  std::int64_t overdue_ms = 10'000;
  std::size_t programs_per_user = 16'384;
  bool if_none = false;
  bool foreground = false;
  bool any_user = false;
  policy::CoreAllocation policy = policy::CoreAllocationOptions{}.how;
};

// Nothing: all that was asked is done, and the status says how to end.
struct ReadSettings {
  std::optional<Settings> settings;
  int status = 0;
};
ReadSettings read_settings(int argc, char** argv);

}  // namespace nigh::nighd
