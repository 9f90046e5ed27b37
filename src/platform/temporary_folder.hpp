// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where temporary files are made.

#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nigh::platform {

// $TMPDIR unless it is empty, or else /tmp; other names and their order as in libstdc++. Throws
// with a line that names the variable, where that is no directory.
inline std::filesystem::path temporary_folder() {
  std::error_code failed;
  for (char const* const name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    char const* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    if (std::filesystem::is_directory(value, failed)) return value;
    throw std::runtime_error(std::string(name) + '=' + value + " is no directory");
  }
  if (std::filesystem::is_directory("/tmp", failed)) return "/tmp";
  throw std::runtime_error("/tmp is no directory");
}

}  // namespace nigh::platform
