// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <unordered_map>
#include <utility>

namespace nigh {

std::vector<std::vector<int>> topology::groups(level l) const {
  auto const column = std::min(static_cast<std::size_t>(l), levels - 1);
  std::vector<std::vector<int>> groups;
  std::unordered_map<int, std::size_t> group_of;
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    auto const [group, fresh] = group_of.try_emplace(objects_[i][column], groups.size());
    if (fresh) groups.emplace_back();
    groups[group->second].push_back(cpus_[i]);
  }
  return groups;
}

std::vector<int> topology::order(cpu_order how, level at) const {
  // First cpu of each core, then the second ones, and so on.
  std::vector<int> rank(cpus_.size());
  std::unordered_map<int, int> seen;
  for (std::size_t i = 0; i < cpus_.size(); ++i)
    rank[i] = seen[objects_[i][static_cast<std::size_t>(level::core)]]++;
  auto groups = this->groups(at);
  std::size_t longest = 0;
  for (auto& group : groups) {
    std::sort(group.begin(), group.end(), [&](int a, int b) {
      auto const i = static_cast<std::size_t>(position(a));
      auto const j = static_cast<std::size_t>(position(b));
      return std::pair(rank[i], i) < std::pair(rank[j], j);
    });
    longest = std::max(longest, group.size());
  }

  std::vector<int> order;
  order.reserve(cpus_.size());
  if (how == cpu_order::compact)
    for (auto const& group : groups) order.insert(order.end(), group.begin(), group.end());
  else
    for (std::size_t turn = 0; turn < longest; ++turn)
      for (auto const& group : groups)
        if (turn < group.size()) order.push_back(group[turn]);
  return order;
}

std::vector<int> topology::smt_siblings(int cpu) const {
  auto const p = position(cpu);
  if (p < 0) return {};
  auto const core = static_cast<std::size_t>(level::core);
  std::vector<int> siblings;
  for (std::size_t i = 0; i < cpus_.size(); ++i)
    if (objects_[i][core] == objects_[static_cast<std::size_t>(p)][core])
      siblings.push_back(cpus_[i]);
  std::sort(siblings.begin(), siblings.end());
  return siblings;
}

}  // namespace nigh
