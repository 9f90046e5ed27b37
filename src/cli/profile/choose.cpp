// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/region_name.hpp"
#include "coordinator/profile/profile_files.hpp"
#include "platform/binary_identity.hpp"
#include "platform/program.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;

using coordinator::ProgramProfile;

namespace {

// The identity of a program's file, or of one that a shell would find; 0: there is no such program.
std::uint64_t identity_of(std::string const& program) {
  auto const file = platform::find_program(program);
  return file.empty() ? 0 : platform::binary_identity(file.c_str());
}

}  // namespace

std::vector<KeptProfile> all_profiles(fs::path const& directory) {
  std::vector<KeptProfile> all;
  auto files = coordinator::profile_files(directory);
  auto const of_libraries = coordinator::profile_files(coordinator::library_profiles(directory));
  files.insert(files.end(), of_libraries.begin(), of_libraries.end());
  for (auto const& file : files) {
    auto const profile = coordinator::read_profile(file);
    if (!profile)
      fmt::print(stderr, "nigh: profile: {}\n", base::printable(profile.message()));
    else if (*profile)
      all.push_back({file, **profile});
  }
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) {
    return std::tie(a.profile.program, a.file) < std::tie(b.profile.program, b.file);
  });
  return all;
}

std::vector<KeptProfile> profiles_of(fs::path const& directory, std::string const& program) {
  auto all = all_profiles(directory);
  auto const binary = identity_of(program);
  auto const keep_only = [&](auto const& is_meant) {
    auto some = all;
    std::erase_if(some, [&](KeptProfile const& k) { return !is_meant(k.profile); });
    return some;
  };
  if (binary != 0)
    if (auto its = keep_only([&](auto const& p) { return p.binary == binary; }); !its.empty())
      return its;
  // Also a script or a library.
  std::error_code failed;
  auto const path = fs::absolute(program, failed).lexically_normal();
  if (program.find('/') != program.npos)
    return binary != 0 ? std::vector<KeptProfile>() : keep_only([&](auto const& p) {
      return p.path == program || (!failed && p.path == path);
    });
  return keep_only([&](auto const& p) { return p.program == program; });
}

KeptProfile profile_to_change(fs::path const& directory, std::string const& program) {
  auto found = profiles_of(directory, program);
  if (found.size() == 1) return std::move(found.front());
  if (found.size() > 1)
    throw UsageError(fmt::format(
        "profile: there are {} programs called {}: give the path of one (nigh profile show {})",
        found.size(), program, program));
  auto const file = platform::find_program(program);
  auto const binary = identity_of(program);
  if (binary == 0)
    throw UsageError("profile: " + program + ": no program, and no profile of one by that name");
  std::error_code failed;
  auto const path = fs::absolute(file, failed);
  auto const name = file.filename().string();
  ProgramProfile fresh;
  fresh.program = name;
  fresh.path = failed ? file.string() : path.string();
  fresh.binary = binary;
  return {coordinator::profile_file(directory, name, binary), fresh};
}

void name_regions(ProgramProfile& profile) {
  // A script's regions are its interpreter's, which may have changed.
  auto const& path = profile.path;
  auto const now = profile.is_library ? platform::library_identity(path.c_str())
                                      : platform::binary_identity(path.c_str());
  if (path.empty() || now != profile.binary) return;
  auto names =
      profile.is_library ? RegionNames::of_program({}, {path}) : RegionNames::of_program(path);
  for (auto& region : profile.regions) {
    if (!region.where.empty()) continue;
    auto const& code = names.find(region.id);
    if (!code.file.empty()) region.where = short_name(code);
  }
}

std::vector<coordinator::RegionId> regions_called(ProgramProfile const& profile,
                                                  std::string const& name) {
  if (auto const id = coordinator::parse_region(name)) return {*id};
  std::vector<coordinator::RegionId> found;
  for (auto const& region : profile.regions)
    if (region.where == name) found.push_back(region.id);
  return found;
}

}  // namespace nigh::cli
