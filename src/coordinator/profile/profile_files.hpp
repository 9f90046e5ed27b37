// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where profiles are: a directory with one file for each binary or script,
// NAME-XXXXXXXXXXXXXXXX.json, where the digits are its identity; one below it, libraries, with
// those of libraries. Each change leaves a whole file; those who change files of a directory take
// turns.

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
// ~/.local/state). Empty: there is no such directory, for HOME is not set.
std::filesystem::path own_profiles();
// $NIGH_PROFILES, or that of a nighd for all users: below what systemd gives it, or in /var/lib.
std::filesystem::path shared_profiles();

std::filesystem::path library_profiles(std::filesystem::path const& directory);

// By the binary alone: a program that was copied to another name keeps its profile.
std::filesystem::path profile_file(std::filesystem::path const& directory,
                                   std::string const& program, std::uint64_t binary);

// All that are named as profiles, the oldest first; empty if there is no directory.
std::vector<std::filesystem::path> profile_files(std::filesystem::path const& directory);

// Nothing if there is none. An error names the file.
result<std::optional<ProgramProfile>> read_profile(std::filesystem::path const& file);

// For a turn. Nobody keeps one for long.
inline constexpr std::chrono::milliseconds usual_patience{1000};

// Reads the profile of this program, or begins one; has it changed; writes it. What is damaged, or
// of a version before or after this one, is an error and stays as it is. Makes the directory.
result<void> change_profile(std::filesystem::path const& directory, std::string const& program,
                            std::uint64_t binary,
                            std::function<void(ProgramProfile&)> const& change,
                            std::chrono::milliseconds patience = usual_patience);

result<void> remove_profile(std::filesystem::path const& file);

// Removes the oldest files while there are more than so many or they have more bytes than that
// together. Those stay in which the user or a study has said something.
void keep_newest(std::filesystem::path const& directory, std::size_t most_files,
                 std::uint64_t most_bytes);

}  // namespace nigh::coordinator
