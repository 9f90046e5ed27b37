// SPDX-License-Identifier: Apache-2.0
#include "platform/energy.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(fs::path const& file) {
  std::ifstream in(file);
  std::uint64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

// The whole text behind `prefix`.
std::optional<int> number_behind(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  int value = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<fs::path> entries_of(fs::path const& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

using Place = std::pair<int, int>;  // package and die; -1: all of its dies

// "package-0", or "package-0-die-1" where there are several.
std::optional<Place> place_of(std::string const& zone) {
  auto const die = zone.find("-die-");
  auto const package = number_behind("package-", zone.substr(0, die));
  if (!package) return std::nullopt;
  if (die == std::string::npos) return Place{*package, -1};
  auto const number = number_behind("-die-", zone.substr(die));
  if (!number) return std::nullopt;
  return Place{*package, *number};
}

std::map<Place, std::vector<int>> cpus_by_place(fs::path const& root) {
  std::map<Place, std::vector<int>> cpus;
  for (auto const& entry : entries_of(root / "sys/devices/system/cpu")) {
    auto const cpu = number_behind("cpu", entry.filename().string());
    auto const package = number_in(entry / "topology/physical_package_id");
    if (!cpu || !package) continue;
    auto const id = static_cast<int>(*package);
    cpus[{id, -1}].push_back(*cpu);
    if (auto const die = number_in(entry / "topology/die_id"))
      cpus[{id, static_cast<int>(*die)}].push_back(*cpu);
  }
  for (auto& [place, list] : cpus) std::sort(list.begin(), list.end());
  return cpus;
}

}  // namespace

// Zones are intel-rapl:0 (AMD's too). Their parts (intel-rapl:0:0, its cores) are contained in
// them. Other zones of the same level are no packages (psys), or the same once more
// (intel-rapl-mmio:0).
EnergyMeter::EnergyMeter(fs::path root) {
  auto const cpus = cpus_by_place(root);
  for (auto const& zone : entries_of(root / "sys/class/powercap")) {
    if (!number_behind("intel-rapl:", zone.filename().string())) continue;
    std::string name;
    std::ifstream(zone / "name") >> name;
    auto const place = place_of(name);
    if (!place) continue;
    auto const now = number_in(zone / "energy_uj");
    auto const its = cpus.find(*place);
    if (!now || its == cpus.end()) {
      counters_.clear();
      return;
    }
    auto const range = number_in(zone / "max_energy_range_uj");
    counters_.push_back({zone / "energy_uj", range.value_or(0), *now, its->second});
  }
}

std::vector<EnergyMeter::Package> EnergyMeter::look() {
  std::vector<Package> packages;
  for (Counter& counter : counters_) {
    auto const now = number_in(counter.file);
    if (!now) {
      counters_.clear();
      return {};
    }
    auto used = *now - counter.last_uj;
    if (*now < counter.last_uj)
      used = counter.range_uj > counter.last_uj ? used + counter.range_uj : 0;
    counter.last_uj = *now;
    packages.push_back({counter.cpus, used});
  }
  return packages;
}

}  // namespace nigh::platform
