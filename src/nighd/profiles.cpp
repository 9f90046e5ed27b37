// SPDX-License-Identifier: Apache-2.0
#include "nighd/profiles.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "coordinator/profile/profile_files.hpp"

namespace nigh::nighd {
namespace {

using namespace coordinator;

// Others wait meanwhile.
constexpr std::chrono::milliseconds patience{10};

class Profiles {
 public:
  explicit Profiles(ProfileOptions options) : options_(std::move(options)) {}

  std::vector<KnownRegion> recall(KnownProgram const& program) {
    auto const profile =
        read_profile(profile_file(directory_of(program), program.name, program.binary));
    if (!profile) {
      warn_once("ignores a profile", profile.message());
      return {};
    }
    std::vector<KnownRegion> known;
    if (!*profile) return known;
    for (auto const& region : (*profile)->regions)
      if (is_of_use(**profile, region)) known.push_back(from_file(region));
    return known;
  }

  void remember(KnownProgram const& program, std::vector<KnownRegion> const& regions) {
    auto const directory = directory_of(program);
    bool is_new = false;
    auto const change = [&](ProgramProfile& profile) {
      is_new = profile.cpus == 0;
      std::erase_if(profile.regions,
                    [&](RegionProfile const& r) { return !is_of_use(profile, r); });
      profile.program = program.name;
      if (!program.path.empty()) profile.path = program.path;
      profile.cpus = options_.cpus;
      for (auto const& region : regions) merge(profile, region);
    };
    auto const done = change_profile(directory, program.name, program.binary, change, patience);
    if (!done) return warn_once("cannot keep a profile", done.message());
    if (is_new) keep_newest(directory, options_.files);
  }

 private:
  std::filesystem::path directory_of(KnownProgram const& program) const {
    return options_.apart_by_user ? options_.directory / std::to_string(program.user)
                                  : options_.directory;
  }

  bool is_of_use(ProgramProfile const& profile, RegionProfile const& region) const {
    return profile.cpus == options_.cpus || region.source == Source::given;
  }

  static KnownRegion from_file(RegionProfile const& region) {
    KnownRegion known{.id = region.id, .demand = region.demand};
    known.is_fixed = region.source != Source::learnt && region.demand.is_known();
    for (auto const& t : region.times)
      known.times.push_back({static_cast<int>(t.threads), t.median_ns, t.runs});
    return known;
  }

  static void merge(ProgramProfile& profile, KnownRegion const& known) {
    auto* region = profile.find(known.id);
    if (region != nullptr && region->source != Source::learnt) return;
    if (known.is_fixed || known.times.empty()) return;  // nothing was learnt
    if (region == nullptr) {
      if (profile.regions.size() >= most_regions) return;
      region = &profile.regions.emplace_back(RegionProfile{.id = known.id});
    }
    region->demand = known.demand;
    region->times.clear();
    for (auto const& t : known.times)
      region->times.push_back({static_cast<std::uint32_t>(t.threads), t.median_ns, t.runs});
  }

  void warn_once(std::string_view what, std::string const& why) {
    if (options_.warn && warned_.insert(std::string(what)).second) options_.warn(what, why);
  }

  ProfileOptions options_;
  std::set<std::string> warned_;
};

}  // namespace

Keeper keeper_in(ProfileOptions options) {
  auto const profiles = std::make_shared<Profiles>(std::move(options));
  return {.recall = [profiles](KnownProgram const& p) { return profiles->recall(p); },
          .remember = [profiles](KnownProgram const& p,
                                 std::vector<KnownRegion> const& r) { profiles->remember(p, r); }};
}

}  // namespace nigh::nighd
