// SPDX-License-Identifier: Apache-2.0
#pragma once
// What comes with the command and lies beside its folder, in the build tree as in the installed
// one.

#include <filesystem>

#include "platform/program.hpp"

namespace nigh::cli {

inline std::filesystem::path beside_this_program(std::filesystem::path const& folder) {
  return (platform::this_program().parent_path() / ".." / folder).lexically_normal();
}
inline std::filesystem::path machines_folder() {
  return beside_this_program("share/nigh/machines");
}

}  // namespace nigh::cli
