// SPDX-License-Identifier: Apache-2.0
// What programs may have when a quota of cpu time, or a cpuset, says less than they have
// registered.
//
// A request for which its cgroup has no cpu left stands outside, in the order it came; where nobody
// has a quota, nobody stands there. Each request in the queue has one cpu of its quota reserved, so
// what waits in the queue waits for cpus of the host, as without quotas, and everything that is
// said of the queue stays true.
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
  if (programs_.find(e.connection) == programs_.end()) return;
  quotas_.set(e.connection, e.bounds);
  may_grow_ = true;
}

// The system moves threads that a cpuset leaves without any of their cpus to all of the cpuset's.
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

int Coordinator::held_in(Quotas::Group const& group) const {
  int held = 0;
  for (auto const member : group.members) held += program(member).held;
  return held;
}

int Coordinator::queued_in(Quotas::Group const& group) const {
  return static_cast<int>(std::count_if(queue_.begin(), queue_.end(), [&](Waiting const& w) {
    return group.members.contains(w.owner);
  }));
}

// What each program of the group that holds cpus, wants some or is in want has when all have
// equally many.
int Coordinator::part_in(Quotas::Group const& group) const {
  std::set<Connection> claim;
  auto const add = [&](std::deque<Waiting> const& requests) {
    for (Waiting const& w : requests)
      if (group.members.contains(w.owner)) claim.insert(w.owner);
  };
  add(queue_);
  add(outside_);
  for (auto const member : group.members)
    if (program(member).held > 0 || is_in_want(program(member))) claim.insert(member);
  return std::max(1, group.cpus / std::max(1, static_cast<int>(claim.size())));
}

// Cpus that its quotas leave to one more request.
int Coordinator::left_for(Connection who) const {
  int left = std::numeric_limits<int>::max();
  for (auto const* group : quotas_.of(who))
    left = std::min(left, group->cpus - held_in(*group) - queued_in(*group));
  return left;
}

// Cpus that a lease may have at most: for a request in the queue, or instead of one with so many.
int Coordinator::most_for(Connection who, int instead_of) const {
  int most = std::numeric_limits<int>::max();
  for (auto const* group : quotas_.of(who)) {
    int const others = queued_in(*group) - (instead_of == 0 ? 1 : 0);
    int const left = group->cpus - (held_in(*group) - instead_of) - others;
    int const part = part_in(*group) - (program(who).held - instead_of);
    most = std::min(most, std::max(1, std::min(left, part)));
  }
  return most;
}

policy::ThreadDemand Coordinator::within_quota(policy::ThreadDemand demand, int most) {
  return {std::min(demand.maximum, most), std::min(demand.optimal, most)};
}

// Those who stand outside, as far as their quotas reach by now.
void Coordinator::admit() {
  for (auto w = outside_.begin(); w != outside_.end();) {
    if (left_for(w->owner) <= 0) {
      ++w;
      continue;
    }
    auto& owner = program(w->owner);
    owner.waited += now_ - w->since;
    w->since = now_;
    line_up(std::move(*w));
    w = outside_.erase(w);
  }
}

bool Coordinator::is_waited_for_outside(Quotas::Group const& group) const {
  return std::any_of(outside_.begin(), outside_.end(),
                     [&](Waiting const& w) { return !w.until && group.members.contains(w.owner); });
}

// What has been asked back for long, and is waited for outside for ever, ends.
void Coordinator::expire_outside() {
  if (outside_.empty()) return;
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    auto& [id, l] = *lease;
    auto const groups = quotas_.of(l.owner);
    bool const ends = l.revoked && *l.revoked + options_.overdue_us <= now_ &&
                      std::any_of(groups.begin(), groups.end(), [this](auto const* group) {
                        return is_waited_for_outside(*group);
                      });
    if (ends) send(l.owner, Revoke{id, Revoke::Reason::ended});
    if (ends) l.is_for_others = false;  // it is not back
    lease = ends ? end(lease) : std::next(lease);
  }
}

// A lease that ends may admit a request, for which other leases are overdue.
void Coordinator::end_overdue() {
  std::size_t before = 0;
  do {
    before = leases_.size();
    admit();
    expire();
    expire_outside();
  } while (leases_.size() != before);
}

// Asks back what is more than a quota by now, and what those outside are to get: equal parts, from
// those who have most, then from those who have had them longest.
void Coordinator::keep_within_bounds() {
  for (auto const& [name, group] : quotas_.all()) {
    int const part = part_in(group);
    int wanted = 0;
    std::set<Connection> wait;
    for (Waiting const& w : outside_)
      if (group.members.contains(w.owner)) {
        wanted += std::min(part, w.demand.optimal);
        wait.insert(w.owner);
      }
    for (auto const member : group.members)
      if (is_in_want(program(member)) && !wait.contains(member))
        wanted += std::max(0, part - program(member).held);
    wanted = std::min(wanted, group.cpus);
    std::vector<std::tuple<int, LeaseId, Lease*>> leases;  // ids grow with time
    int kept = 0;
    for (auto& [id, lease] : leases_) {
      if (lease.revoked || !group.members.contains(lease.owner)) continue;
      kept += lease.size;
      leases.emplace_back(-program(lease.owner).held, id, &lease);
    }
    std::sort(leases.begin(), leases.end());
    int const room = group.cpus - queued_in(group);
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
  for (Waiting const& w : outside_)
    if (w.until) at(*w.until);
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
      if (group->cpus > held_in(*group) + queued_in(*group)) continue;
      on_its_way |= queued_in(*group) > 0;
      for (auto const& [id, lease] : leases_)
        if (group->members.contains(lease.owner)) on_its_way |= lease.revoked || !is_ripe(lease);
    }
    NIGH_ASSERT(on_its_way, "what they wait for comes back");
  }
}

}  // namespace nigh::coordinator
