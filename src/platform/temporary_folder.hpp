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

// $TMPDIR, or else /tmp. Throws with a line that names the variable, where that is no directory.
inline std::filesystem::path temporary_folder() {
  std::error_code failed;
  auto folder = std::filesystem::temp_directory_path(failed);
  if (!failed) return folder;
  // In the order of libstdc++.
  for (char const* const name : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"})
    if (char const* const value = std::getenv(name))
      throw std::runtime_error(std::string(name) + '=' + value + " is no directory");
  throw std::runtime_error("/tmp is no directory");
}

}  // namespace nigh::platform
