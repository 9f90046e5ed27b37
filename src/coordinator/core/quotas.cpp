// SPDX-License-Identifier: Apache-2.0
// The cpus that programs may have when a quota of cpu time, or a cpuset, allows fewer than they
// have registered.
//
// A request whose cgroup has no cpu left stands outside the line, in the order it came; without
// quotas, the outside is empty. Each request in line has one cpu of its quota reserved. So requests
// in line wait for cpus of the host, as without quotas, and all rules of the line stay true.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

void Coordinator::happen(Bound const& e) {
  auto const found = programs_.find(e.connection);
  if (found == programs_.end()) return;
  quotas_.set(e.connection, e.bounds);
  recount(found->second);
  may_grow_ = true;
}

// The system moves threads whose cpus a cpuset excludes to all of the cpuset's cpus.
void Coordinator::happen(Allowed const& e) {
  auto const found = programs_.find(e.connection);
  if (found == programs_.end()) return;
  auto& owner = found->second;
  PositionSet cpus(machine_.size());
  for (int p = 0; p < machine_.size(); ++p)
    if (e.cpus.has(machine_.cpu(p))) cpus.add(p);
  auto const& both = cpus.intersects(owner.registered) ? owner.registered : cpus;
  owner.allowed = cpus.empty() ? owner.registered : cpus;
  owner.allowed &= cpus.empty() ? owner.registered : both;
  owner.allowed_cpus = owner.allowed.count();
  may_grow_ = true;
  for (auto& [id, lease] : leases_) {
    if (lease.owner != e.connection || lease.revoked) continue;
    auto beyond = lease.cpus;
    beyond -= owner.allowed;
    if (!beyond.empty()) revoke(lease, id, Revoke::Reason::others_wait);
  }
}

// The equal part of each program of the group that holds cpus, wants some or is in want.
int Coordinator::part_in(Quotas::Group const& group) const {
  return std::max(1, group.cpus / std::max(1, group.claims));
}

// Cpus that its quotas leave to one more request.
int Coordinator::left_for(Connection who) const {
  int left = std::numeric_limits<int>::max();
  if (quotas_.all().empty()) return left;
  for (auto const* group : quotas_.of(who))
    left = std::min(left, group->cpus - group->held - group->queued);
  return left;
}

// Cpus that a lease may have at most: for a request in line, or in place of one with so many.
int Coordinator::most_for(Connection who, int instead_of) const {
  int most = std::numeric_limits<int>::max();
  if (quotas_.all().empty()) return most;
  for (auto const* group : quotas_.of(who)) {
    int const others = group->queued - (instead_of == 0 ? 1 : 0);
    int const left = group->cpus - (group->held - instead_of) - others;
    int const part = part_in(*group) - (program(who).held - instead_of);
    most = std::min(most, std::max(1, std::min(left, part)));
  }
  return most;
}

policy::ThreadDemand Coordinator::within_quota(policy::ThreadDemand demand, int most) {
  return {std::min(demand.maximum, most), std::min(demand.optimal, most)};
}

// The requests whose turn it is; of those outside, as many as their quotas reach for by now.
void Coordinator::admit() {
  come_forward();
  for (auto w = outside_.begin(); w != outside_.end();) {
    if (left_for(w->owner) <= 0) {
      ++w;
      continue;
    }
    line_up(std::move(*w));
    w = outside_.erase(w);
  }
}

bool Coordinator::is_waited_for_outside(Quotas::Group const& group) const {
  return std::any_of(outside_.begin(), outside_.end(),
                     [&](Waiting const& w) { return !w.until && group.members.contains(w.owner); });
}

// Ends a lease that was asked back long ago, if a request outside waits for it without a limit.
void Coordinator::expire_outside() {
  if (outside_.empty()) return;
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    auto& [id, l] = *lease;
    auto const groups = quotas_.of(l.owner);
    bool const ends = l.revoked && *l.revoked + options_.overdue_us <= now_ &&
                      std::any_of(groups.begin(), groups.end(), [this](auto const* group) {
                        return is_waited_for_outside(*group);
                      });
    if (ends) end_and_back_off(id, l);
    lease = ends ? end(lease) : std::next(lease);
  }
}

// The end of a lease may admit a request for which other leases are overdue.
void Coordinator::end_overdue() {
  std::size_t before = 0;
  do {
    before = leases_.size();
    admit();
    expire();
    expire_outside();
  } while (leases_.size() != before);
}

// Asks back what now exceeds a quota, and what requests outside should get: equal parts, from the
// programs with most, then from those that have had theirs longest.
void Coordinator::keep_within_bounds() {
  if (quotas_.all().empty()) return;
  // Groups with nothing to do are not looked at, however many there are.
  std::map<QuotaGroup, Quotas::Group const*> groups;
  auto const add = [&](Connection member) {
    for (auto const* group : quotas_.of(member)) groups.emplace(group->name, group);
  };
  for (auto const& [id, lease] : leases_) add(lease.owner);
  for (Waiting const& w : outside_) add(w.owner);
  for (auto const* p : in_want_) add(p->connection);
  for (auto const& [name, of_that_name] : groups) {
    auto const& group = *of_that_name;
    int const part = part_in(group);
    int wanted = 0;
    std::set<Connection> wait;
    for (Waiting const& w : outside_)
      if (group.members.contains(w.owner)) {
        wanted += std::min(part, w.demand.optimal);
        wait.insert(w.owner);
      }
    for (auto const* p : in_want_)
      if (group.members.contains(p->connection) && !wait.contains(p->connection))
        wanted += std::max(0, part - p->held);
    wanted = std::min(wanted, group.cpus);
    std::vector<std::tuple<int, LeaseId, Lease*>> leases;  // ids grow with time
    int kept = 0;
    for (auto& [id, lease] : leases_) {
      if (lease.revoked || !group.members.contains(lease.owner)) continue;
      kept += lease.size;
      leases.emplace_back(-lease.program->held, id, &lease);
    }
    std::sort(leases.begin(), leases.end());
    int const room = group.cpus - group.queued;
    for (auto& [held, id, lease] : leases) {
      bool const is_beyond = kept > group.cpus;
      if (!is_beyond && kept + wanted <= room) break;
      if (is_beyond || is_ripe(*lease)) {
        kept -= lease->size;
        revoke(*lease, id, Revoke::Reason::others_wait);
      } else if (is_ripe_if_idle(*lease)) {
        ask_if_idle(*lease, id);
      }
    }
  }
}

std::optional<Time> Coordinator::next_tick_outside() const {
  std::optional<Time> next;
  auto const at = [&](Time t) {
    if (t > now_ && (!next || t < *next)) next = t;
  };
  if (outside_.empty()) return next;
  for (auto const& [id, lease] : leases_) {
    if (quotas_.of(lease.owner).empty()) continue;
    at(lease.revoked ? *lease.revoked + options_.overdue_us : lease.since + slice_);
    if (!lease.revoked && !is_ripe(lease)) at(ripe_if_idle_at(lease));
  }
  return next;
}

void Coordinator::check_outside() const {
  for (Waiting const& w : outside_) {
    NIGH_ASSERT(programs_.contains(w.owner), "those who wait outside are alive");
    NIGH_ASSERT(left_for(w.owner) <= 0, "those who wait outside wait for their quota");
    bool on_its_way = false;
    for (auto const* group : quotas_.of(w.owner)) {
      if (group->cpus > group->held + group->queued) continue;
      on_its_way |= group->queued > 0;
      for (auto const& [id, lease] : leases_)
        if (group->members.contains(lease.owner)) on_its_way |= lease.revoked || !is_ripe(lease);
    }
    NIGH_ASSERT(on_its_way, "what they wait for comes back");
  }
}

}  // namespace nigh::coordinator
