// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps what is known of programs' regions in files (coordinator/profile). What the user says of a
// region, or a study has measured, is used and never changed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "coordinator/server/region_memory.hpp"

namespace nigh::nighd {

struct ProfileOptions {
  std::filesystem::path directory;
  bool apart_by_user = false;  // a directory for each: nobody says what others' programs can use
  std::uint32_t cpus = 1;      // of this machine: what was learnt on another is not used
  // Of a user, as far as they are only learnt; its libraries' are as many again.
  std::size_t files = 1000;
  std::uint64_t bytes = std::uint64_t{64} << 20;
  // What is wrong with a file or the directory; each kind once.
  std::function<void(std::string_view what, std::string_view why)> warn{};
};

coordinator::Keeper keeper_in(ProfileOptions options);

}  // namespace nigh::nighd
