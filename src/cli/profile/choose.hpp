// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which profile, and which of its regions, does the user mean?

#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/profile/region_profile.hpp"

namespace nigh::cli {

struct KeptProfile {
  std::filesystem::path file = {};
  coordinator::ProgramProfile profile = {};
};

// All profiles, by name. Unreadable ones are complained about on standard error.
std::vector<KeptProfile> all_profiles(std::filesystem::path const& directory);

// Those of a program given by its path, or of all programs of that name. There may be none.
std::vector<KeptProfile> profiles_of(std::filesystem::path const& directory,
                                     std::string const& program);

// The one profile of a program, for a change; for a program without a profile, an empty one.
// UsageError when several could be meant.
KeptProfile profile_to_change(std::filesystem::path const& directory, std::string const& program);

// "cg.cpp:120", or its function or address where that is unknown; read from the program's file if
// that is still the one that was profiled.
void name_regions(coordinator::ProgramProfile& profile);

// The regions that the user calls 0x3df60 or cg.cpp:120.
std::vector<coordinator::RegionId> regions_called(coordinator::ProgramProfile const& profile,
                                                  std::string const& name);

}  // namespace nigh::cli
