// SPDX-License-Identifier: Apache-2.0
// The invariants that hold after every step.
#include <algorithm>
#include <map>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

void Coordinator::check() const {
  auto seen = free_;
  std::map<Connection, int> held;
  std::map<Connection, std::size_t> open;
  for (auto const& [id, lease] : leases_) {
    NIGH_ASSERT(id <= last_lease_ && lease.size > 0 && lease.size == lease.cpus.count(),
                "a lease has the cpus it says");
    NIGH_ASSERT(!seen.intersects(lease.cpus), "no cpu is granted twice, or granted and free");
    seen |= lease.cpus;
    auto const owner = programs_.find(lease.owner);
    NIGH_ASSERT(owner != programs_.end(), "every lease has a living owner");
    auto beyond = lease.cpus;
    beyond -= owner->second.allowed;
    NIGH_ASSERT(beyond.empty() || lease.revoked, "programs get cpus that they may use");
    NIGH_ASSERT(lease.size <= lease.demand.maximum, "programs get no more than they can use");
    held[lease.owner] += lease.size;
    ++open[lease.owner];
  }
  NIGH_ASSERT(seen.count() == machine_.size(), "no cpu is lost");

  PositionSet leased = PositionSet::all(machine_.size());
  leased -= free_;
  PositionSet kept(machine_.size());
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    Waiting const& w = queue_[i];
    auto const owner = programs_.find(w.owner);
    NIGH_ASSERT(owner != programs_.end(), "those who wait are alive");
    // No program waits without reason: another one has, or will get, the cpus it could use.
    NIGH_ASSERT(owner->second.allowed.intersects(leased) ||
                    owner->second.allowed.intersects(kept) || is_anything_kept_from(w) ||
                    room_while_backing_off(*w.program->user) == 0,
                "those who wait, wait for a lease or for one in front of them, or in want");
    NIGH_ASSERT(!w.until || now_ < *w.until, "nobody waits for longer than it would");
    kept |= owner->second.allowed;
    ++open[w.owner];
  }
  if (!queue_.empty()) {
    NIGH_ASSERT(decide_for(queue_.front(), PositionSet(machine_.size()),
                           static_cast<int>(queue_.size()) - 1 + behind_)
                    .waits(),
                "the first in line is served as soon as that is possible");
    bool on_its_way = false, ripens = false;
    for (auto const& [id, lease] : leases_) {
      if (!lease.cpus.intersects(program(queue_.front().owner).allowed)) continue;
      on_its_way |= lease.revoked.has_value();
      ripens |= !lease.revoked && (!is_ripe(lease) || !is_due(lease));
      NIGH_ASSERT(
          !lease.revoked || *lease.revoked + options_.overdue_us > now_ || queue_.front().until,
          "what is long overdue and waited for has ended");
    }
    NIGH_ASSERT(on_its_way || ripens || is_anything_kept_from(queue_.front()) ||
                    has_its_part(*queue_.front().program->user) ||
                    room_while_backing_off(*queue_.front().program->user) == 0,
                "what the first in line waits for comes back");
  }

  for (Waiting const& w : outside_) ++open[w.owner];
  for (auto const& [connection, program] : programs_) open[connection] += program.behind.size();
  check_line();
  check_outside();

  NIGH_ASSERT(programs_.size() == by_number_.size(), "each program has a number");
  for (auto const& [connection, program] : programs_) {
    NIGH_ASSERT(
        is_in_want(program) == (std::count(in_want_.begin(), in_want_.end(), &program) == 1),
        "those in want are known");
    NIGH_ASSERT(
        is_returning(program) == (std::count(returning_.begin(), returning_.end(), &program) == 1),
        "those expected again are known");
    NIGH_ASSERT(program.held == held[connection], "cpus are counted for their program");
    NIGH_ASSERT(program.open == open[connection] && program.open <= options_.open_requests,
                "requests and leases are counted for their program");
  }
}

}  // namespace nigh::coordinator
