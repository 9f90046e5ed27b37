// SPDX-License-Identifier: Apache-2.0
#include "sim/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

namespace nigh::sim {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, Sourced>> Machine::numbers() const {
  std::vector<std::pair<std::string, Sourced>> all{
      {"memory/thread_gb_per_s", thread_gb_per_s},         {"memory/per_hop", per_hop},
      {"memory/controller_gb_per_s", controller_gb_per_s}, {"memory/crowding", crowding},
      {"memory/uncrowded_flows", uncrowded_flows},         {"memory/read_share", read_share},
  };
  if (l3_gb_per_s.value > 0) all.emplace_back("memory/l3_gb_per_s", l3_gb_per_s);
  if (links.domains() > shape.cpu_domains()) {
    all.emplace_back("memory/apart/gb_per_s", apart_gb_per_s);
    all.emplace_back("memory/apart/hops", apart_hops);
  }
  if (links.directed_links() > 0) {
    all.emplace_back("links/gb_per_s", link_gb_per_s);
    all.emplace_back("links/distance", hop_distance);
  }
  all.emplace_back("costs/message_ns", message_ns);
  all.emplace_back("costs/barrier_ns", barrier_ns);
  all.emplace_back("costs/slice_ns", slice_ns);
  if (spawn_ns) all.emplace_back("costs/spawn_ns", *spawn_ns);
  if (hosts.value > 1) {
    all.emplace_back("network/hosts", hosts);
    all.emplace_back("network/gb_per_s", network_gb_per_s);
    all.emplace_back("network/message_ns", network_message_ns);
  }
  for (auto const& l : levels) {
    auto const at = "levels/" + l.name + '/';
    all.emplace_back(at + "probe_ns", l.probe_ns);
    all.emplace_back(at + "lock_ns", l.lock_ns);
    all.emplace_back(at + "copy_ns", l.copy_ns);
    all.emplace_back(at + "unlock_ns", l.unlock_ns);
    all.emplace_back(at + "gb_per_s", l.gb_per_s);
    if (hosts.value > 1 && &l == &levels.back())
      all.emplace_back(at + "interface_ns", interface_ns);
  }
  return all;
}

policy::CoreMap Machine::core_map() const {
  auto const n = shape.cpu_domains();
  std::vector<std::vector<double>> between;
  for (int a = 0; a < n; ++a) {
    between.emplace_back();
    for (int b = 0; b < n; ++b) between.back().push_back(links.hops(a, b) * hop_distance.value);
  }
  return policy::CoreMap::of(shape, between);
}

std::vector<std::string> machine_names(fs::path const& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

result<Machine> find_machine(std::string const& name, fs::path const& folder) {
  if (name.find('/') != name.npos || name.ends_with(".json")) return read_machine(name);
  auto const names = machine_names(folder);
  if (std::find(names.begin(), names.end(), name) != names.end())
    return read_machine(folder / (name + ".json"));
  std::string known;
  for (auto const& n : names) known += (known.empty() ? "" : ", ") + n;
  return error{"no machine \"" + name + "\"; " +
               (known.empty() ? "there are none in " + folder.string() : "there are: " + known)};
}

}  // namespace nigh::sim
