// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place of profiles: a directory with one file for each binary or script,
// NAME-XXXXXXXXXXXXXXXX.json, where the digits are its identity; a directory below it, libraries,
// has those of libraries. Each change leaves a whole file; processes that change files of a
// directory take turns.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/profile/region_profile.hpp"

namespace nigh::coordinator {

// $NIGH_PROFILES, or nigh/profiles in the user's state directory ($XDG_STATE_HOME,
// ~/.local/state). Empty: NIGH_PROFILES is none, HOME is not set, or we are root in another user's.
std::filesystem::path own_profiles();
// $NIGH_PROFILES, or the directory of a nighd for all users: below the one that systemd gives it,
// or in /var/lib.
std::filesystem::path shared_profiles();

std::filesystem::path library_profiles(std::filesystem::path const& directory);

// By the binary alone: a program that was copied to another name keeps its profile.
std::filesystem::path profile_file(std::filesystem::path const& directory,
                                   std::string const& program, std::uint64_t binary);

// All files named as profiles, the oldest first; empty if there is no directory.
std::vector<std::filesystem::path> profile_files(std::filesystem::path const& directory);

// Nothing if there is none. An error names the file.
result<std::optional<ProgramProfile>> read_profile(std::filesystem::path const& file);

// Waits for its turn, which nobody keeps for long.
inline constexpr std::chrono::milliseconds usual_patience{1000};

// Reads the profile of this program, or begins one, has it changed, and writes it. A damaged file,
// or one of another version, is an error and stays as it is. Makes the directory.
result<void> change_profile(std::filesystem::path const& directory, std::string const& program,
                            std::uint64_t binary,
                            std::function<void(ProgramProfile&)> const& change,
                            std::chrono::milliseconds patience = usual_patience);

result<void> remove_profile(std::filesystem::path const& file);

// Removes the oldest files while there are more than so many, or they have more bytes than that
// together. Files with the user's word or a study's stay.
void keep_newest(std::filesystem::path const& directory, std::size_t most_files,
                 std::uint64_t most_bytes);

}  // namespace nigh::coordinator
