// SPDX-License-Identifier: Apache-2.0
#pragma once
// A study, kept in the profiles of its programs, where nighd finds it.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/profile/study.hpp"
#include "coordinator/profile/region_profile.hpp"

namespace nigh::cli {

// A measurement replaces what was learnt or measured before. The user's word stays.
void keep(StudiedProgram const& studied, int cpus, coordinator::ProgramProfile& profile);

// Says for each program where its profile is, or why there is none. `words` is the command that was
// studied: for an interpreter, the script is among them. With a doubt, which says what the study is
// weak in, a profile that was measured before stays.
std::vector<std::string> store(Study const& study, int cpus, std::vector<std::string> const& words,
                               std::string const& doubt);

// The directory of profiles; throws UsageError when there can be none.
std::filesystem::path profile_directory();

}  // namespace nigh::cli
