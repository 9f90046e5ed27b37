// SPDX-License-Identifier: Apache-2.0
#include "nighd/profiles.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "coordinator/profile/profile_files.hpp"
#include "platform/binary_identity.hpp"
#include "platform/elf.hpp"
#include "platform/process_usage.hpp"
#include "platform/script.hpp"

namespace nigh::nighd {
namespace {

using namespace coordinator;

// Other requests wait meanwhile.
constexpr std::chrono::milliseconds patience{10};

class Profiles {
 public:
  explicit Profiles(ProfileOptions options) : options_(std::move(options)) {}

  Recollection recall(KnownProgram const& program) {
    auto const found = program.process.look([&] { return recall_as_it_is(program); });
    if (found) return *found;
    auto gone = program;  // its number may belong to another process by then
    gone.process = {};
    return recall_as_it_is(gone);
  }

  // Only the library is new.
  Recollection look(KnownProgram const& program, std::uint32_t number) {
    Recollection found;
    auto const looked =
        program.process.look([&] { return library_called(program.process.pid, number); });
    if (!looked || !*looked) return found;
    auto const& library = *looked;
    found.program.libraries.push_back(*library);
    auto const directory = library_profiles(directory_of(program));
    add_regions(profile_file(directory, name_of(*library), library->binary), found.regions);
    return found;
  }

  void remember(KnownProgram const& program, std::vector<KnownRegion> const& regions) {
    auto const directory = directory_of(program);
    bool const is_known = program.binary != 0 && !is_interpreter(program);
    std::vector<KnownRegion> own;
    for (auto const& region : regions)
      if (!is_of(program.libraries, region.id)) own.push_back(region);
    for (auto const& library : program.libraries) {
      std::vector<KnownRegion> its;
      for (auto const& region : regions)
        if (is_in(library, region.id)) its.push_back(region);
      if (!has_lesson(its)) continue;
      keep(library_profiles(directory), name_of(library), library.binary, its,
           [&](ProgramProfile& profile) {
             profile.path = library.path;
             profile.is_library = true;
           });
    }
    bool const is_to_be_kept =
        is_known &&
        (has_lesson(own) || has_file(profile_file(directory, program.name, program.binary)));
    if (!is_to_be_kept) return;
    keep(directory, program.name, program.binary, own, [&](ProgramProfile& profile) {
      if (!program.path.empty()) profile.path = program.path;
      profile.interpreter = program.interpreter;
      // Kept before libraries had profiles.
      std::erase_if(profile.regions, [&](RegionProfile const& r) {
        return r.source == Source::learnt && is_of(program.libraries, r.id);
      });
    });
  }

 private:
  Recollection recall_as_it_is(KnownProgram const& program) {
    Recollection found{program_itself(program), {}};
    auto const directory = directory_of(program);
    if (found.program.binary != 0)
      add_regions(profile_file(directory, found.program.name, found.program.binary), found.regions);
    add_libraries(library_profiles(directory), found);
    return found;
  }

  // It may have a script, which has not been looked up.
  static bool is_interpreter(KnownProgram const& program) {
    auto const file = std::filesystem::path(program.path).filename();
    return program.interpreter.empty() && platform::is_interpreter(file.native());
  }
  // The profile is an interpreter's script's; the interpreter alone has none.
  static KnownProgram program_itself(KnownProgram program) {
    if (!is_interpreter(program)) return program;
    auto const name = std::filesystem::path(program.path).filename().string();
    auto const script = platform::script_of_process(program.process.pid, name, program.binary);
    program.binary = script ? script->identity : 0;
    program.interpreter = std::exchange(program.path, script ? script->path.string() : "");
    if (script) program.name = script->name;
    return program;
  }

  static bool is_in(KnownLibrary const& library, RegionId region) {
    return (region & in_no_file) == 0 && library_of(region) == library.number;
  }
  static bool is_of(std::vector<KnownLibrary> const& libraries, RegionId region) {
    return std::any_of(libraries.begin(), libraries.end(),
                       [&](KnownLibrary const& l) { return is_in(l, region); });
  }
  static std::string name_of(KnownLibrary const& library) {
    return std::filesystem::path(library.path).filename().string();
  }
  // The file as this process can open it, whatever directories the other process sees.
  static std::string as_seen_by(int process, std::filesystem::path const& file) {
    auto const below = "/proc/" + std::to_string(process) + "/root" + file.string();
    std::error_code failed;
    return std::filesystem::exists(below, failed) ? below : file.string();
  }

  static std::optional<KnownLibrary> library_called(int process, std::uint32_t number) {
    auto const files = platform::mapped_code(process);
    auto const found = [&](std::filesystem::path const& file) -> std::optional<KnownLibrary> {
      auto const binary = platform::library_identity(as_seen_by(process, file).c_str());
      if (binary == 0) return std::nullopt;
      return KnownLibrary{number, file.string(), binary};
    };
    for (auto const& file : files)
      if (library_number(file.filename().c_str()) == number) return found(file);
    for (auto const& file : files) {  // libfoo.so.1, which is a link to libfoo.so.1.2
      auto const elf = platform::read_elf(as_seen_by(process, file));
      if (elf && library_number(elf->library_name.c_str()) == number) return found(file);
    }
    return std::nullopt;
  }

  // The libraries about which something is known. Of the many that a program may have loaded, few
  // are opened.
  void add_libraries(std::filesystem::path const& directory, Recollection& to) {
    int const process = to.program.process.pid;
    if (process <= 0) return;
    auto const kept = profile_files(directory);
    if (kept.empty()) return;
    for (auto const& file : platform::mapped_code(process)) {
      auto const name = file.filename().string();
      bool const may_be_known = std::any_of(kept.begin(), kept.end(), [&](auto const& profile) {
        return profile.filename().string().starts_with(name.substr(0, 47) + '-');
      });
      if (!may_be_known) continue;
      auto const binary = platform::library_identity(as_seen_by(process, file).c_str());
      if (binary == 0) continue;
      auto const before = to.regions.size();
      add_regions(profile_file(directory, name, binary), to.regions);
      if (to.regions.size() > before)
        to.program.libraries.push_back({library_of(to.regions.back().id), file.string(), binary});
    }
  }

  // Knowledge from before counts more.
  void add_regions(std::filesystem::path const& file, std::vector<KnownRegion>& to) {
    auto const profile = read_profile(file);
    if (!profile) return warn_once("ignores a profile", profile.message());
    if (!*profile) return;
    for (auto const& region : (*profile)->regions) {
      bool const is_there = std::any_of(to.begin(), to.end(),
                                        [&](KnownRegion const& k) { return k.id == region.id; });
      if (!is_there && is_of_use(**profile, region)) to.push_back(from_file(region));
    }
  }

  static bool has_file(std::filesystem::path const& file) {
    std::error_code failed;
    return std::filesystem::exists(file, failed);
  }
  static bool has_lesson(std::vector<KnownRegion> const& regions) {
    return std::any_of(regions.begin(), regions.end(),
                       [](KnownRegion const& k) { return !k.is_fixed && !k.times.empty(); });
  }

  void keep(std::filesystem::path const& directory, std::string const& name, std::uint64_t binary,
            std::vector<KnownRegion> const& regions,
            std::function<void(ProgramProfile&)> const& describe) {
    auto const change = [&](ProgramProfile& profile) {
      std::erase_if(profile.regions,
                    [&](RegionProfile const& r) { return !is_of_use(profile, r); });
      profile.program = name;
      profile.cpus = options_.cpus;
      describe(profile);
      for (auto const& region : regions) merge(profile, region);
    };
    auto const done = change_profile(directory, name, binary, change, patience);
    if (!done) return warn_once("cannot keep a profile", done.message());
    keep_newest(directory, options_.files, options_.bytes);
  }

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
      known.times.push_back({static_cast<int>(t.threads), t.median_ns, t.runs, t.spread_ns});
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
    region->is_indifferent = known.is_indifferent;
    region->times.clear();
    for (auto const& t : known.times)
      region->times.push_back(
          {static_cast<std::uint32_t>(t.threads), t.median_ns, t.runs, t.spread_ns});
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
          .look = [profiles](KnownProgram const& p,
                             std::uint32_t number) { return profiles->look(p, number); },
          .remember = [profiles](KnownProgram const& p,
                                 std::vector<KnownRegion> const& r) { profiles->remember(p, r); }};
}

}  // namespace nigh::nighd
