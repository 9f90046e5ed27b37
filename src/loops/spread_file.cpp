// SPDX-License-Identifier: Apache-2.0
#include "loops/spread_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/printable.hpp"
#include "platform/whole_file.hpp"

namespace nigh::loops {
namespace {

std::mutex turn;  // for the file, among this process's threads

char const* file_name() noexcept {
  char const* const name = std::getenv("NIGH_SPREADS");
  return name != nullptr && *name != '\0' ? name : nullptr;
}

// An error is said once, not by each site. Called under `turn`.
void say(std::string const& why) {
  static auto& said = *new std::string;  // sites with static storage may outlive any other static
  auto line = std::string(file_name()) + ' ' + why;
  if (line == said) return;
  std::fprintf(stderr, "nigh: NIGH_SPREADS: %s\n", base::printable(line).c_str());
  said = std::move(line);
}

// A missing file counts as empty.
std::optional<settings::LearntSpreads> read_file(std::string const& machine) {
  std::string text;
  if (!platform::read_whole_file(file_name(), text, settings::largest_spreads)) {
    if (errno == ENOENT) return settings::LearntSpreads{machine};
    say(errno == EFBIG ? settings::too_large_spreads : "cannot be read");
    return {};
  }
  settings::LearntSpreads lines;
  auto const why_not = settings::parse_spreads(text, machine, lines);
  if (why_not.empty()) return lines;
  say(why_not);
  return {};
}

}  // namespace

std::string shape_of(topology const& machine) {
  std::string shape;
  auto const add = [&](char const* what, std::size_t n) {
    shape += (shape.empty() ? "" : " ") + std::string(what) + ':' + std::to_string(n);
  };
  add("package", machine.groups(level::package).size());
  add("domain", static_cast<std::size_t>(machine.cpu_domains()));
  add("l3", machine.groups(level::l3).size());
  add("core", static_cast<std::size_t>(machine.cores()));
  add("cpu", machine.cpus().size());
  return shape;
}

std::optional<policy::SpreadState> read_spread(topology const& machine, std::string const& name,
                                               int workers) {
  if (name.empty() || file_name() == nullptr) return {};
  std::lock_guard const guard(turn);
  auto const file = read_file(shape_of(machine));
  if (!file) return {};
  for (auto const& site : file->sites)
    if (site.name == name && site.workers == workers) return site.found;
  return {};
}

void write_spread(std::string const& machine, settings::LearntSpread line) {
  if (line.name.empty() || file_name() == nullptr) return;
  std::lock_guard const guard(turn);
  auto file = read_file(machine);
  if (!file) return;
  file->put(std::move(line));
  if (!platform::replace_file(file_name(), text_of(*file))) say("cannot be written");
}

}  // namespace nigh::loops
