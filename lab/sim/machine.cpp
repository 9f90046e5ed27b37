// SPDX-License-Identifier: Apache-2.0
#include "sim/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

namespace nigh::sim {

LinkGraph::LinkGraph(int domains, std::vector<std::pair<int, int>> links)
    : domains_(domains), links_(std::move(links)) {
  measure_hops();
  routes_.resize(hops_.size());
  for (int a = 0; a < domains_; ++a)
    for (int b = 0; b < domains_; ++b) routes_[at(a, b)] = route_of(a, b);
}

void LinkGraph::measure_hops() {
  auto const n = static_cast<std::size_t>(domains_);
  std::vector<std::vector<int>> neighbours(n);
  for (auto const& [a, b] : links_) {
    neighbours[static_cast<std::size_t>(a)].push_back(b);
    neighbours[static_cast<std::size_t>(b)].push_back(a);
  }
  hops_.assign(n * n, -1);
  for (int from = 0; from < domains_; ++from) {
    std::vector<int> reached{from};
    hops_[at(from, from)] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (int next : neighbours[static_cast<std::size_t>(reached[i])])
        if (hops_[at(from, next)] < 0) {
          hops_[at(from, next)] = hops_[at(from, reached[i])] + 1;
          reached.push_back(next);
        }
  }
}

int LinkGraph::diameter() const noexcept { return *std::max_element(hops_.begin(), hops_.end()); }

// A link's share is the part of the shortest ways that use it: ways up to its beginning times ways
// on from its end.
std::vector<LinkGraph::Part> LinkGraph::route_of(int from, int to) const {
  std::vector<Part> parts;
  int const length = hops(from, to);
  if (length <= 0) return parts;
  auto const ways_from = [&](int start) {  // number of shortest ways to each domain
    std::vector<double> ways(static_cast<std::size_t>(domains_), 0);
    ways[static_cast<std::size_t>(start)] = 1;
    for (int distance = 1; distance <= length; ++distance)
      for (auto const& link : links_)
        for (auto const& [a, b] : {link, std::pair{link.second, link.first}})
          if (hops(start, b) == distance && hops(start, a) == distance - 1)
            ways[static_cast<std::size_t>(b)] += ways[static_cast<std::size_t>(a)];
    return ways;
  };
  auto const there = ways_from(from), back = ways_from(to);
  double const all = there[static_cast<std::size_t>(to)];
  for (int l = 0; l < directed_links(); ++l) {
    auto [a, b] = links_[static_cast<std::size_t>(l / 2)];
    if (l % 2 == 1) std::swap(a, b);
    if (hops(from, a) < 0 || hops(from, a) + 1 + hops(b, to) != length) continue;
    parts.push_back(
        {l, there[static_cast<std::size_t>(a)] * back[static_cast<std::size_t>(b)] / all});
  }
  return parts;
}

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
