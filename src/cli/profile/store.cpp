// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/store.hpp"

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "coordinator/profile/profile_files.hpp"
#include "platform/binary_identity.hpp"
#include "platform/program.hpp"
#include "platform/script.hpp"
#include "policy/cpus/region_scaling.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;

using coordinator::RegionProfile;
using coordinator::Source;

fs::path profile_directory() {
  auto directory = coordinator::own_profiles();
  if (directory.empty())
    throw UsageError(
        "profile: there is no directory for profiles: NIGH_PROFILES names none, and HOME none of this user's");
  return directory;
}

namespace {

// The program, or the script that it runs as an interpreter, from the words of its command.
struct Known {
  std::string name;
  std::string path;
  std::string interpreter;
  std::uint64_t binary = 0;
};

Known known(std::string const& path, std::vector<std::string> const& words) {
  auto const file = fs::path(path).filename().string();
  auto const binary = platform::binary_identity(path.c_str());
  if (!platform::is_interpreter(file)) return {file, path, "", binary};
  std::error_code failed;
  bool const is_its =
      !words.empty() && fs::equivalent(platform::find_program(words.front()), path, failed);
  if (!is_its) return {file, path, path, 0};
  auto const script =
      platform::script_of(platform::script_in(file, words), binary, fs::current_path(failed));
  if (!script) return {file, path, path, 0};
  return {script->name, script->path.string(), path, script->identity};
}

bool has_measured(fs::path const& file) {
  auto const there = coordinator::read_profile(file);
  if (!there || !*there) return false;
  auto const& regions = (**there).regions;
  return std::any_of(regions.begin(), regions.end(),
                     [](RegionProfile const& r) { return r.source == Source::measured; });
}

}  // namespace

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
    std::vector<policy::Typical> teams;
    for (auto const& team : region.teams) teams.push_back({team.ns(), team.spread()});
    kept->is_indifferent = policy::is_indifferent(teams);
    kept->demand = {};
    if (!kept->is_indifferent)
      kept->demand = {static_cast<std::uint32_t>(region.demand->maximum),
                      static_cast<std::uint32_t>(region.demand->optimal)};
    kept->times.clear();
    for (auto const& team : region.teams)
      kept->times.push_back({static_cast<std::uint32_t>(team.threads),
                             std::max<std::int64_t>(1, std::llround(team.ns())), team.runs,
                             std::llround(team.ns() * team.spread())});
  }
}

std::vector<std::string> store(Study const& study, int cpus,
                               std::vector<std::string> const& words,
                               std::string const& doubt) {
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
    auto const [name, path, interpreter, binary] = known(program.path, words);
    if (binary == 0) {
      said.push_back("no profile for " + program.path +
                     (interpreter.empty() ? ": the file cannot be known again"
                                          : ": it is kept by script, and this is none"));
      continue;
    }
    auto const file = coordinator::profile_file(directory, name, binary);
    if (!doubt.empty() && has_measured(file)) {
      said.push_back("the measured profile in " + file.string() + " stays: " + doubt +
                     "; --keep replaces it");
      continue;
    }
    auto const change = [&, its = path, by = interpreter](coordinator::ProgramProfile& profile) {
      keep(program, cpus, profile);
      profile.path = its;
      profile.interpreter = by;
    };
    auto const kept = coordinator::change_profile(directory, name, binary, change);
    if (!kept)
      said.push_back("not kept: " + kept.message());
    else
      said.push_back("kept in " + file.string() +
                     "; nighd uses it from the next run on");
  }
  return said;
}

}  // namespace nigh::cli
