// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file "stat" of a process or thread below /proc.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace nigh::platform {

struct ProcessStat {
  std::string name;
  std::string later_fields;  // field 3 (state) and those after it

  // Counted as proc(5) does, from 3 on. Nothing: the field is missing, or no number.
  std::optional<std::int64_t> number(std::size_t field) const;
};

// Nothing where the file cannot be read or makes no sense.
std::optional<ProcessStat> read_stat(std::filesystem::path const& file);

}  // namespace nigh::platform
