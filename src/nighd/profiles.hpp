// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps what is known of programs' regions in files (coordinator/profile). The user's word on a
// region, and a study's measurements, are used and never changed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "coordinator/server/region_memory.hpp"

namespace nigh::nighd {

struct ProfileOptions {
  std::filesystem::path directory;
  // a directory for each user: nobody decides what others' programs can use
  bool apart_by_user = false;
  std::uint32_t cpus = 1;  // of this machine: what was learnt on another is not used
  // Of each user, counting learnt profiles only; its libraries may have as many again.
  std::size_t files = 1000;
  std::uint64_t bytes = std::uint64_t{64} << 20;
  // Reports what is wrong with a file or the directory; each kind once.
  std::function<void(std::string_view what, std::string_view why)> warn{};
};

coordinator::Keeper keeper_in(ProfileOptions options);

}  // namespace nigh::nighd
