// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which profile, and which of its regions, somebody means.

#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/profile/region_profile.hpp"

namespace nigh::cli {

struct KeptProfile {
  std::filesystem::path file = {};
  coordinator::ProgramProfile profile = {};
};

// All there are, by name. Those that cannot be read are complained about on standard error.
std::vector<KeptProfile> all_profiles(std::filesystem::path const& directory);

// Of a program given by its path, or of all by that name. May be none.
std::vector<KeptProfile> profiles_of(std::filesystem::path const& directory,
                                     std::string const& program);

// The one profile of a program, for a change; of a program that has none, an empty one. UsageError
// when it is not clear which.
KeptProfile profile_to_change(std::filesystem::path const& directory, std::string const& program);

// "cg.cpp:120", or its function or address where that is not known; by the program's file if it is
// still the one that was profiled.
void name_regions(coordinator::ProgramProfile& profile);

// Those that somebody calls 0x3df60 or cg.cpp:120.
std::vector<coordinator::RegionId> regions_called(coordinator::ProgramProfile const& profile,
                                                  std::string const& name);

}  // namespace nigh::cli
