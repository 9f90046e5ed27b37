// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that come with the running program, in the build tree and in the installed one.

#include <filesystem>

#include "platform/program.hpp"

namespace nigh::cli {

// Of what the Python wheel lacks; "it" or "them" follows.
inline constexpr char const* who_has_more =
    "Debian's package nigh-tools and a build from source have ";

// A file or folder of the tree in which the program lies in bin/ or in libexec/nigh/.
inline std::filesystem::path installed_file(std::filesystem::path const& name) {
  auto const folder = platform::this_program().parent_path();
  bool const in_libexec = folder.parent_path().filename() == "libexec";
  return (folder / ".." / (in_libexec ? ".." : "") / name).lexically_normal();
}

// Programs that users start themselves.
inline std::filesystem::path program_file(std::filesystem::path const& name) {
  return installed_file(std::filesystem::path("bin") / name);
}
// Programs that others start, scripts for figures, preloaded libraries.
inline std::filesystem::path libexec_file(std::filesystem::path const& name) {
  return installed_file(std::filesystem::path("libexec") / "nigh" / name);
}
inline std::filesystem::path machines_folder() { return installed_file("share/nigh/machines"); }

}  // namespace nigh::cli
