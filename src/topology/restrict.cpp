// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/cpu_list.hpp"
#include "topology/builder.hpp"

namespace nigh {
namespace {

using Kind = topology_object::kind;

void restrict_picture(topology_object& o, topology_builder::Filter const& keep_cpu,
                      topology_builder::Filter const& keep_node,
                      std::vector<int> const& new_domain) {
  if (o.type == Kind::cpu) o.allowed = o.allowed && keep_cpu(o.os_index);
  if (o.type == Kind::memory) o.allowed = o.allowed && keep_node(o.os_index);
  if (o.domain >= 0) o.domain = new_domain[static_cast<std::size_t>(o.domain)];
  for (auto& child : o.children) restrict_picture(child, keep_cpu, keep_node, new_domain);
}

int count_cpus(topology_object const& o) {
  return std::accumulate(o.children.begin(), o.children.end(), o.type == Kind::cpu ? 1 : 0,
                         [](int sum, auto const& child) { return sum + count_cpus(child); });
}

}  // namespace

topology topology_builder::restricted(topology full, Filter const& keep_cpu,
                                      Filter const& keep_node) {
  topology t = std::move(full);

  std::size_t kept = 0;
  for (std::size_t i = 0; i < t.cpus_.size(); ++i) {
    if (!keep_cpu(t.cpus_[i])) continue;
    t.cpus_[kept] = t.cpus_[i];
    t.objects_[kept] = t.objects_[i];
    t.domain_of_[kept] = t.domain_of_[i];
    ++kept;
  }
  t.cpus_.resize(kept);
  t.objects_.resize(kept);
  t.domain_of_.resize(kept);

  auto old = std::exchange(t.domains_, {});
  for (auto& d : old) {
    std::erase_if(d.cpus, [&](int cpu) { return !keep_cpu(cpu); });
    if (d.os_node >= 0 && !keep_node(d.os_node)) d.os_node = -1;
    if (d.os_node < 0) d.memory_bytes = 0;
  }
  auto const old_count = old.size();
  std::vector<int> new_domain(old_count, -1);
  std::vector<std::size_t> origin;
  // Domains with cpus first; a domain with neither cpus nor memory is dropped.
  for (bool const with_cpus : {true, false})
    for (auto& d : old) {
      if (d.index < 0 || d.cpus.empty() == with_cpus || (!with_cpus && d.os_node < 0)) continue;
      origin.push_back(static_cast<std::size_t>(std::exchange(d.index, -1)));
      new_domain[origin.back()] = static_cast<int>(t.domains_.size());
      t.domains_.push_back(std::move(d));
      t.domains_.back().index = new_domain[origin.back()];
    }
  for (auto& d : t.domain_of_) d = new_domain[static_cast<std::size_t>(d)];

  auto const old_distances = std::exchange(t.distances_, {});
  for (auto from : origin)
    for (auto to : origin) t.distances_.push_back(old_distances[from * old_count + to]);

  restrict_picture(t.root_, keep_cpu, keep_node, new_domain);
  index_cpus(t);
  index_domains(t);
  describe(t);
  return t;
}

void topology_builder::index_cpus(topology& t) {
  t.position_of_cpu_.clear();
  for (std::size_t i = 0; i < t.cpus_.size(); ++i) {
    auto const cpu = static_cast<std::size_t>(t.cpus_[i]);
    if (t.position_of_cpu_.size() <= cpu) t.position_of_cpu_.resize(cpu + 1, -1);
    t.position_of_cpu_[cpu] = static_cast<int>(i);
  }
}

void topology_builder::index_domains(topology& t) {
  t.cpu_domains_ = static_cast<int>(std::count_if(t.domains_.begin(), t.domains_.end(),
                                                  [](domain const& d) { return !d.cpus.empty(); }));
  t.nearest_memory_.clear();
  for (auto const& d : t.domains_) {
    int nearest = d.index;
    for (auto const& other : t.domains_)
      if (d.os_node < 0 && other.os_node >= 0 &&
          (t.domains_[static_cast<std::size_t>(nearest)].os_node < 0 ||
           t.distance(d.index, other.index) < t.distance(d.index, nearest)))
        nearest = other.index;
    t.nearest_memory_.push_back(nearest);
  }
}

void topology_builder::describe(topology& t) {
  auto const cpus = static_cast<int>(t.cpus_.size());
  auto const all = count_cpus(t.root_);
  t.description_ = t.source_ + ": " + base::counted(cpus, "cpu") +
                   (cpus < all ? " (of " + std::to_string(all) + ")" : "") + " on " +
                   base::counted(t.cores(), "core") + " in " +
                   base::counted(t.cpu_domains_, "domain");
  auto const bare = static_cast<int>(t.domains_.size()) - t.cpu_domains_;
  if (bare > 0) t.description_ += " and " + base::counted(bare, "memory-only domain");
}

result<topology> topology::restricted_to(std::span<int const> keep) const {
  std::vector<char> kept(position_of_cpu_.size(), 0);
  for (int cpu : keep) {
    if (position(cpu) < 0)
      return error{"cpu " + std::to_string(cpu) + " is not among the allowed cpus " +
                   base::cpu_list(cpus_)};
    kept[static_cast<std::size_t>(cpu)] = 1;
  }
  if (keep.empty()) return error{"no cpu is left of " + base::cpu_list(cpus_)};
  return topology_builder::restricted(
      *this,
      [&](int cpu) {
        auto const i = static_cast<std::size_t>(cpu);
        return i < kept.size() && kept[i] != 0;
      },
      [](int) { return true; });
}

}  // namespace nigh
