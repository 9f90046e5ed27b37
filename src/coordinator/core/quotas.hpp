// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which programs share a quota of cpu time: those of one cgroup, and of the cgroups below it.

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nigh::coordinator {

using Connection = std::uint64_t;  // named by the caller, which never uses a name again

// A cgroup, by any two numbers that tell it from others.
using QuotaGroup = std::pair<std::uint64_t, std::uint64_t>;

// All programs of the group together hold no more cpus than this by leases.
struct QuotaBound {
  QuotaGroup group;
  int cpus = 1;
  bool operator==(QuotaBound const&) const = default;
};

class Quotas {
 public:
  struct Group {
    QuotaGroup name{};
    int cpus = 1;  // the last value given
    std::set<Connection> members;
    int held = 0;    // cpus, by all of them
    int queued = 0;  // requests in line
    int claims = 0;  // members that hold cpus, want some, or are in want
  };

  // The numbers that a member adds to its groups.
  struct Share {
    int held = 0;
    int queued = 0;
    int claims = 0;
  };

  // All quotas that bind the program from now on; nothing: it has none.
  void set(Connection program, std::vector<QuotaBound> const& bounds) {
    forget(program);
    if (bounds.empty()) return;
    Member& member = members_[program];
    for (QuotaBound const& b : bounds) {
      auto& group = groups_[b.group];
      group.name = b.group;
      group.cpus = b.cpus > 1 ? b.cpus : 1;
      group.members.insert(program);
      member.groups.insert(b.group);
    }
  }
  // To be called after any change to it.
  void note(Connection program, Share share) {
    auto const found = members_.find(program);
    if (found == members_.end()) return;
    auto& [names, before] = found->second;
    for (auto const& name : names) {
      auto& group = groups_.at(name);
      group.held += share.held - before.held;
      group.queued += share.queued - before.queued;
      group.claims += share.claims - before.claims;
    }
    before = share;
  }
  void forget(Connection program) {
    note(program, {});
    auto const found = members_.find(program);
    if (found == members_.end()) return;
    for (auto const& name : found->second.groups) {
      auto const group = groups_.find(name);
      group->second.members.erase(program);
      if (group->second.members.empty()) groups_.erase(group);
    }
    members_.erase(found);
  }

  bool binds(Connection program) const { return members_.contains(program); }
  std::map<QuotaGroup, Group> const& all() const noexcept { return groups_; }
  std::vector<Group const*> of(Connection program) const {
    std::vector<Group const*> groups;
    auto const found = members_.find(program);
    if (found == members_.end()) return groups;
    for (auto const& name : found->second.groups) groups.push_back(&groups_.at(name));
    return groups;
  }

 private:
  std::map<QuotaGroup, Group> groups_;
  struct Member {
    std::set<QuotaGroup> groups;
    Share share{};
  };
  std::unordered_map<Connection, Member> members_;
};

}  // namespace nigh::coordinator
