// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which programs share a quota of cpu time: those of one cgroup, and of the cgroups below it.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace nigh::coordinator {

using Connection = std::uint64_t;  // whoever drives the machine names them, and uses no name again

// A cgroup, by whatever two numbers tell it from others.
using QuotaGroup = std::pair<std::uint64_t, std::uint64_t>;

// All programs of the group together hold no more cpus than that by leases.
struct QuotaBound {
  QuotaGroup group;
  int cpus = 1;
  bool operator==(QuotaBound const&) const = default;
};

class Quotas {
 public:
  struct Group {
    int cpus = 1;  // as was last said
    std::set<Connection> members;
  };

  // All that binds the program from now on; nothing: it has no quota.
  void set(Connection program, std::vector<QuotaBound> const& bounds) {
    forget(program);
    for (QuotaBound const& b : bounds) {
      auto& group = groups_[b.group];
      group.cpus = b.cpus > 1 ? b.cpus : 1;
      group.members.insert(program);
      groups_of_[program].insert(b.group);
    }
  }
  void forget(Connection program) {
    auto const found = groups_of_.find(program);
    if (found == groups_of_.end()) return;
    for (auto const& name : found->second) {
      auto const group = groups_.find(name);
      group->second.members.erase(program);
      if (group->second.members.empty()) groups_.erase(group);
    }
    groups_of_.erase(found);
  }

  std::map<QuotaGroup, Group> const& all() const noexcept { return groups_; }
  std::vector<Group const*> of(Connection program) const {
    std::vector<Group const*> groups;
    auto const found = groups_of_.find(program);
    if (found == groups_of_.end()) return groups;
    for (auto const& name : found->second) groups.push_back(&groups_.at(name));
    return groups;
  }

 private:
  std::map<QuotaGroup, Group> groups_;
  std::map<Connection, std::set<QuotaGroup>> groups_of_;
};

}  // namespace nigh::coordinator
