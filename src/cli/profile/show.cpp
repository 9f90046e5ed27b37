// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nigh/topology.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/printable.hpp"
#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/profile/choose.hpp"
#include "cli/profile/durations.hpp"
#include "cli/profile/store.hpp"
#include "coordinator/profile/profile_files.hpp"

namespace nigh::cli {
namespace {

using coordinator::ProgramProfile;
using coordinator::RegionProfile;
using coordinator::Source;
using Json = nlohmann::ordered_json;

constexpr int not_there = 1;

std::string name_of(RegionProfile const& region) {
  return region.where.empty() ? coordinator::region_name(region.id) : base::printable(region.where);
}

// A module has none: its interpreter's.
std::string place_of(ProgramProfile const& profile) {
  if (!profile.path.empty()) return base::printable(profile.path);
  return profile.interpreter.empty() ? "-" : base::printable(profile.interpreter);
}

// As in its file, whose format is documented, with the file's path.
std::string as_json(std::vector<KeptProfile> const& profiles) {
  auto all = Json::array();
  for (auto const& [file, profile] : profiles) {
    Json json{{"file", file.string()}};
    json.update(Json::parse(coordinator::profile_text(profile)));
    all.push_back(std::move(json));
  }
  return Json{{"profiles", std::move(all)}}.dump(2, ' ', false, Json::error_handler_t::replace) +
         '\n';
}

std::size_t count_of(ProgramProfile const& profile, Source source) {
  auto const is_its = [source](RegionProfile const& r) { return r.source == source; };
  return static_cast<std::size_t>(
      std::count_if(profile.regions.begin(), profile.regions.end(), is_its));
}

std::string times_text(RegionProfile const& region) {
  std::string text;
  for (auto const& t : region.times)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", t.threads,
                        duration_text(static_cast<double>(t.median_ns)));
  return text.empty() ? "-" : text;
}

std::string as_text(KeptProfile const& kept) {
  auto const& profile = kept.profile;
  std::size_t width = std::string("REGION").size();
  for (auto const& region : profile.regions) width = std::max(width, name_of(region).size());
  auto text = fmt::format("{} ({}), on {} cpus\n{}\n\n{:<{}}  {:<14}  {:<8}  {:>7}  {:>7}  {}\n",
                          base::printable(profile.program), place_of(profile), profile.cpus,
                          base::printable(kept.file.string()), "REGION", width, "ID", "FROM",
                          "MAXIMUM", "OPTIMAL", "TIMES BY THREADS");
  for (auto const& region : profile.regions) {
    auto const count = [&](std::uint32_t n) {
      if (region.is_indifferent) return std::string("any");
      return region.demand.is_known() ? std::to_string(n) : std::string("-");
    };
    text +=
        fmt::format("{:<{}}  {:<14}  {:<8}  {:>7}  {:>7}  {}\n", name_of(region), width,
                    coordinator::region_name(region.id), to_string(region.source),
                    count(region.demand.maximum), count(region.demand.optimal), times_text(region));
  }
  return text;
}

// For a change; the program may have no profile yet.
RegionProfile& region_to_set(ProgramProfile& profile, coordinator::RegionId id) {
  if (RegionProfile* const there = profile.find(id)) return *there;
  auto& added = profile.regions.emplace_back();
  added.id = id;
  return added;
}

KeptProfile existing(std::string const& program) {
  auto kept = profile_to_change(profile_directory(), program);
  if (kept.profile.regions.empty()) throw UsageError("profile: there is no profile of " + program);
  name_regions(kept.profile);
  return kept;
}

coordinator::RegionId the_region(ProgramProfile const& profile, std::string const& name) {
  auto const found = regions_called(profile, name);
  if (found.size() == 1) return found.front();
  if (found.empty())
    throw UsageError("profile: " + profile.program + " has no region " + name +
                     "; nigh profile show " + profile.program +
                     " lists them, and an address as 0x3df60 is one, too");
  std::string ids;
  for (auto const id : found) ids += ' ' + coordinator::region_name(id);
  throw UsageError("profile: " + name + " is several regions:" + ids);
}

void change(KeptProfile const& kept, std::function<void(ProgramProfile&)> const& how) {
  auto const changed = coordinator::change_profile(kept.file.parent_path(), kept.profile.program,
                                                   kept.profile.binary, how);
  if (!changed) throw std::runtime_error("profile: " + changed.message());
}

}  // namespace

void show_profiles(bool json) {
  auto all = all_profiles(profile_directory());
  for (auto& kept : all) name_regions(kept.profile);
  if (json) return write_output("-", as_json(all));
  if (all.empty()) {
    fmt::print(stderr, "nigh: profile: none in {}\n",
               base::printable(profile_directory().string()));
    throw ExitStatus{not_there};
  }
  std::size_t width = std::string("PROGRAM").size();
  for (auto const& kept : all)
    width = std::max(width, base::printable(kept.profile.program).size());
  auto text = fmt::format("{:<{}}  {:>7}  {:>6}  {:>8}  {:>5}  {:>4}  {}\n", "PROGRAM", width,
                          "REGIONS", "LEARNT", "MEASURED", "GIVEN", "CPUS", "PATH");
  for (auto const& [file, p] : all)
    text +=
        fmt::format("{:<{}}  {:>7}  {:>6}  {:>8}  {:>5}  {:>4}  {}\n", base::printable(p.program),
                    width, p.regions.size(), count_of(p, Source::learnt),
                    count_of(p, Source::measured), count_of(p, Source::given), p.cpus, place_of(p));
  write_output("-", text);
}

void show_profile(std::string const& program, bool json) {
  auto found = profiles_of(profile_directory(), program);
  if (found.empty()) {
    fmt::print(stderr, "nigh: profile: none of {} in {}\n", base::printable(program),
               base::printable(profile_directory().string()));
    throw ExitStatus{not_there};
  }
  for (auto& kept : found) name_regions(kept.profile);
  if (json) return write_output("-", as_json(found));
  std::string text;
  for (auto const& kept : found) text += (text.empty() ? "" : "\n") + as_text(kept);
  write_output("-", text);
}

void set_region(std::string const& program, std::string const& region, GivenCounts const& counts) {
  auto kept = profile_to_change(profile_directory(), program);
  name_regions(kept.profile);
  auto const id = the_region(kept.profile, region);
  auto const host = topology::live();
  if (!host) throw std::runtime_error("profile: " + host.message());
  change(kept, [&](ProgramProfile& profile) {
    if (profile.path.empty()) profile.path = kept.profile.path;
    if (profile.cpus == 0) profile.cpus = static_cast<std::uint32_t>(host->cpus().size());
    auto& set = region_to_set(profile, id);
    auto const maximum = static_cast<std::uint32_t>(counts.maximum);
    // Without the user's word, the earlier knowledge counts again, where it still can.
    auto const known = set.demand.is_known() ? std::min(set.demand.optimal, maximum) : maximum;
    set.source = Source::given;
    set.is_indifferent = false;
    set.demand = {maximum, counts.optimal ? static_cast<std::uint32_t>(*counts.optimal) : known};
  });
}

void forget_program(std::string const& program) {
  auto const removed = coordinator::remove_profile(existing(program).file);
  if (!removed) throw std::runtime_error("profile: " + removed.message());
}

void forget_region(std::string const& program, std::string const& region) {
  auto const kept = existing(program);
  auto const id = the_region(kept.profile, region);
  if (auto profile = kept.profile; profile.find(id) == nullptr)
    throw UsageError("profile: " + profile.program + " has no region " + region);
  change(kept, [id](ProgramProfile& profile) {
    std::erase_if(profile.regions, [id](RegionProfile const& r) { return r.id == id; });
  });
}

}  // namespace nigh::cli
