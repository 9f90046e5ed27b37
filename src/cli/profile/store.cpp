// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/store.hpp"

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "coordinator/profile/profile_files.hpp"
#include "platform/binary_identity.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;

using coordinator::RegionProfile;
using coordinator::Source;

fs::path profile_directory() {
  auto directory = coordinator::own_profiles();
  if (directory.empty())
    throw UsageError(
        "profile: there is no directory for profiles: neither NIGH_PROFILES nor HOME is set");
  return directory;
}

void keep(StudiedProgram const& studied, int cpus, coordinator::ProgramProfile& profile) {
  profile.path = studied.path;
  profile.cpus = static_cast<std::uint32_t>(cpus);
  for (auto const& region : studied.regions) {  // the longest first
    if (!region.demand) continue;
    RegionProfile* kept = profile.find(region.id);
    if (kept == nullptr) {
      if (profile.regions.size() >= coordinator::most_regions) break;
      kept = &profile.regions.emplace_back();
      kept->id = region.id;
    }
    kept->where = short_name(region.code);
    if (kept->source == Source::given) continue;
    kept->source = Source::measured;
    kept->demand = {static_cast<std::uint32_t>(region.demand->maximum),
                    static_cast<std::uint32_t>(region.demand->optimal)};
    kept->times.clear();
    for (auto const& team : region.teams)
      kept->times.push_back({static_cast<std::uint32_t>(team.threads),
                             std::max<std::int64_t>(1, std::llround(team.ns())), team.runs});
  }
}

std::vector<std::string> store(Study const& study, int cpus) {
  auto const directory = profile_directory();
  std::vector<std::string> said;
  for (auto const& program : study.programs) {
    bool const has_some = std::any_of(program.regions.begin(), program.regions.end(),
                                      [](auto const& region) { return region.demand.has_value(); });
    if (!has_some) {
      said.push_back("nothing for the profile of " + program.path +
                     ": no region was seen with teams of several sizes");
      continue;
    }
    auto const binary = platform::binary_identity(program.path.c_str());
    if (binary == 0) {
      said.push_back("no profile for " + program.path + ": the file cannot be known again");
      continue;
    }
    auto const name = fs::path(program.path).filename().string();
    auto const kept = coordinator::change_profile(
        directory, name, binary,
        [&](coordinator::ProgramProfile& profile) { keep(program, cpus, profile); });
    if (!kept)
      said.push_back("not kept: " + kept.message());
    else
      said.push_back("kept in " + coordinator::profile_file(directory, name, binary).string() +
                     "; nighd uses it from the next run on");
  }
  return said;
}

}  // namespace nigh::cli
