// SPDX-License-Identifier: Apache-2.0
// Regions that hold others, as reported at the end to people and to the next run: a line for each
// in the file of spreads (settings/learnt_spreads.hpp), named PROGRAM@BUILD+0xREGION. A line of 0
// seconds says only that the region holds others.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "openmp/nest_site.hpp"
#include "openmp/printable_name.hpp"
#include "openmp/process.hpp"
#include "platform/binary_identity.hpp"
#include "platform/whole_file.hpp"

namespace nigh::openmp {
namespace {

using settings::LearntSpread;
using settings::LearntSpreads;

constinit LearntSpreads* earlier = nullptr;  // never destroyed

char const* file_name() {
  char const* const name = getenv("NIGH_SPREADS");
  return name != nullptr && *name != '\0' && getenv("NIGH_OPENMP_MACHINE") != nullptr ? name
                                                                                      : nullptr;
}

void say(std::string const& why) {
  auto const line = base::printable(std::string(file_name()) + ' ' + why);
  fprintf(stderr, "nigh: NIGH_SPREADS: %s\n", line.c_str());
}

// False, with a message: the file cannot be used. A missing file counts as empty.
bool read_file(LearntSpreads& lines) {
  std::string const machine = getenv("NIGH_OPENMP_MACHINE");
  std::string text, why_not;
  if (platform::read_whole_file(file_name(), text, settings::largest_spreads))
    why_not = settings::parse_spreads(text, machine, lines);
  else if (errno == EFBIG)
    why_not = settings::too_large_spreads;
  else if (errno != ENOENT)
    why_not = "cannot be read";
  lines.machine = machine;
  if (!why_not.empty()) say(why_not);
  return why_not.empty();
}

std::string hex(std::uint64_t number) {
  std::array<char, 16> digits;
  auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return {digits.data(), end.ptr};
}

std::string const& program_prefix() {
  static std::string* prefix = nullptr;  // never destroyed; under the lock
  if (prefix == nullptr) {
    std::string name = program_invocation_short_name;
    if (!settings::is_site_name(name)) name = "program";
    prefix = new std::string(name + '@' + hex(platform::own_identity()) + "+0x");
  }
  return *prefix;
}

std::string name_of(NestSite const& site, int leaders) {
  auto name = program_prefix() + hex(site.id);
  if (leaders > 0) name += " num_threads(" + std::to_string(leaders) + ')';
  return name;
}

LearntSpread line_of(NestSite const& site, NestChoice const& c) {
  auto state = c.choice.state();
  if (!(state.seconds > 0)) state.seconds = site.last_seconds;
  return {name_of(site, c.leaders), c.cpus, state};
}

void save() {
  LearntSpreads lines;
  bool is_read = false;
  std::size_t at = 0;
  while (NestSite const* const site = next_nest(at)) {
    auto const known = [&](LearntSpread const& l) { return l.name == name_of(*site, 0); };
    if (!is_read && !read_file(lines)) return;
    is_read = true;
    for (auto const& c : site->choices)
      if (c->choice.is_holding()) lines.put(line_of(*site, *c));
    if (std::none_of(lines.sites.begin(), lines.sites.end(), known)) {
      int const cpus = std::max(1, site->last_cpus);
      lines.put({name_of(*site, 0), cpus, {{1, 1, cpus}, 0}});
    }
  }
  if (is_read && !platform::replace_file(file_name(), text_of(lines))) say("cannot be written");
}

char const* plural(std::uint64_t n) { return n == 1 ? "" : "s"; }

void tell(NestSite const& site) {
  auto const region = static_cast<unsigned long long>(coordinator::address_of(site.id));
  fprintf(stderr, "nigh: %s: region 0x%llx holds others; ", printable_name().text(), region);
  if (site.runs == 0) {
    bool const is_flat = site.is_kept_flat.load(sync::relaxed);
    fprintf(stderr, "%s\n",
            is_flat
                ? "these are kept to one thread, by OMP_MAX_ACTIVE_LEVELS, OMP_NESTED or the "
                  "program's calls"
                : "it ran once, and that was as without a spread: where --spreads names a file, "
                  "the next run of the program begins with one");
    return;
  }
  auto const& c = site.last;
  fprintf(stderr, "%llu time%s: spread %d on %d of %d cpus, %d leader%s",
          static_cast<unsigned long long>(site.runs), plural(site.runs), c.spread, c.active,
          site.last_cpus, static_cast<int>(site.last_teams), plural(site.last_teams));
  if (site.last_leaders > 0) fprintf(stderr, " (num_threads)");
  for (auto const& choice : site.choices) {
    if (choice->cpus != site.last_cpus || choice->leaders != site.last_leaders) continue;
    int const trials = choice->choice.trials();
    fprintf(stderr, choice->choice.is_holding() ? ", held after %d trial%s" : ", in trial %d%.0s",
            trials, plural(static_cast<std::uint64_t>(trials)));
  }
  fprintf(stderr, "\n");
}

}  // namespace

// With the lock held.
void load_nests() {
  if (file_name() == nullptr) return;
  auto* const lines = new LearntSpreads;
  if (!read_file(*lines)) lines->sites.clear();
  earlier = lines;
  auto const& prefix = program_prefix();
  for (auto const& line : lines->sites) {
    if (!line.name.starts_with(prefix)) continue;
    coordinator::RegionId id = 0;
    auto const* const end = line.name.data() + line.name.size();
    auto const read = std::from_chars(line.name.data() + prefix.size(), end, id, 16);
    if (read.ec != std::errc()) continue;
    // The demands of inner regions will be seen; until then, all cpus may be of use.
    if (NestSite* const site = add_nest(id)) site->is_open_inside.store(true, sync::relaxed);
  }
}

policy::SpreadState const* earlier_run(NestSite const& site, int cpus, int leaders) {
  if (earlier == nullptr) return nullptr;
  auto const name = name_of(site, leaders);
  for (auto const& line : earlier->sites)
    if (line.name == name && line.workers == cpus && line.found.seconds > 0) return &line.found;
  return nullptr;
}

void save_nests() noexcept {
  if (!is_spreading() || file_name() == nullptr) return;
  try {
    NestsLocked const locked;
    save();
  } catch (...) {
  }
}

void tell_nests() noexcept {
  if (!is_spreading()) return;
  NestsLocked const locked;
  std::size_t at = 0;
  bool is_any = false;
  while (NestSite const* const site = next_nest(at)) {
    tell(*site);
    is_any = true;
  }
  if (!is_any)
    fprintf(stderr, "nigh: %s: no region holds others: nothing to spread\n",
            printable_name().text());
}

}  // namespace nigh::openmp
