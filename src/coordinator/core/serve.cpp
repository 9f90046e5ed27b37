// SPDX-License-Identifier: Apache-2.0
// Who gets which cpus, and whose leases end for it.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "coordinator/core/coordinator.hpp"
#include "policy/quiet_cpus.hpp"
#include "policy/rank_home.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

Coordinator::Leases::iterator Coordinator::end(Leases::iterator lease) {
  Lease const& l = lease->second;
  count_time(l);
  free_ |= l.cpus;
  auto& owner = program(l.owner);
  owner.held -= l.size;
  --owner.open;
  may_grow_ = true;
  return leases_.erase(lease);
}

// What has been asked back for long, and is waited for, ends. Not for one that will not wait for
// ever: it is better off on all cpus than on those where another team still runs.
void Coordinator::expire() {
  if (queue_.empty()) return;
  auto const wanted = wanted_by_the_patient();
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    auto const& [id, l] = *lease;
    bool const ends =
        l.revoked && *l.revoked + options_.overdue_us <= now_ && l.cpus.intersects(wanted);
    if (ends) send(l.owner, Revoke{id, Revoke::Reason::ended});
    lease = ends ? end(lease) : std::next(lease);
  }
}

PositionSet Coordinator::wanted_by_all() const {
  PositionSet wanted(machine_.size());
  for (Waiting const& w : queue_) wanted |= program(w.owner).allowed;
  if (anybody_in_want())
    for (auto const& [connection, p] : programs_)
      if (is_in_want(p)) wanted |= p.allowed;
  return wanted;
}

// Programs that hold cpus, wait, or are in want.
int Coordinator::competing() const {
  std::vector<Connection> owners;
  for (Waiting const& w : queue_) owners.push_back(w.owner);
  for (auto const& [id, lease] : leases_) owners.push_back(lease.owner);
  if (anybody_in_want())
    for (auto const& [connection, p] : programs_)
      if (is_in_want(p)) owners.push_back(connection);
  std::sort(owners.begin(), owners.end());
  auto const programs = std::unique(owners.begin(), owners.end()) - owners.begin();
  return static_cast<int>(programs);
}

// What there is for each of them when all have equally many.
int Coordinator::equal_part() const {
  return std::max(1, machine_.size() / std::max(1, competing()));
}

// Of that, what a program does not hold yet: it may have several regions at a time.
int Coordinator::attainable(Program const& program) const {
  return std::max(1, std::min(program.allowed_cpus, equal_part()) - program.held);
}

// A rank of an MPI program is placed from its home, so that its teams stay together and apart from
// those of its siblings.
int Coordinator::place_of(Program const& program, int masters_cpu) const {
  auto const& [job, rank, ranks] = program.rank;
  if (job == 0) return masters_cpu;
  return policy::place_of_rank(machine_, program.allowed, free_, static_cast<int>(rank),
                               static_cast<int>(ranks), masters_cpu);
}

policy::CoreDecision Coordinator::decide_for(Waiting const& request, PositionSet const& kept,
                                             int waiting_behind) const {
  Program const& owner = program(request.owner);
  auto available = free_;
  available &= owner.allowed;
  available -= kept;
  auto const demand = within_quota(request.demand, most_for(request.owner));
  if (is_anything_kept_from(request)) available -= kept_from(request, available);
  waiting_behind += in_want_beside(request, available);
  policy::CoreRequest const wish{demand, place_of(owner, request.place), attainable(owner)};
  // Of few cpus that it may use it leaves others no part, if they find theirs elsewhere.
  if (int const all = free_.count(); all > 0)
    waiting_behind = std::max(0, (waiting_behind + 1) * available.count() / all - 1);
  if (available.intersects(busy_)) {
    auto quiet = available;
    quiet -= busy_;
    if (policy::quiet_cpus_suffice(quiet.count(), request.demand, wish.attainable)) {
      auto decision = policy::decide(machine_, options_.allocation, quiet, wish, waiting_behind);
      if (!decision.waits()) return decision;
    }
  }
  return policy::decide(machine_, options_.allocation, available, wish, waiting_behind);
}

void Coordinator::serve() {
  PositionSet kept(machine_.size());  // for those who wait in front
  auto open = free_;
  for (std::size_t i = 0; i < queue_.size() && !open.empty();) {
    auto const behind = static_cast<int>(queue_.size() - i) - 1;
    auto const decision = decide_for(queue_[i], kept, behind);
    if (decision.waits()) {
      kept |= program(queue_[i].owner).allowed;
      ++i;
    } else {
      bool const was_in_want = is_in_want(program(queue_[i].owner));
      grant(queue_[i], decision);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      if (i == 0) first_since_ = now_;
      if (was_in_want) i = 0, kept = PositionSet(machine_.size());  // nothing is kept for it now
    }
    open = free_;
    open -= kept;
  }
}

void Coordinator::grant(Waiting const& request, policy::CoreDecision const& decision) {
  Lease lease{request.owner,
              request.region,
              request.demand,
              static_cast<std::uint32_t>(decision.wanted),
              request.place,
              PositionSet(machine_.size()),
              static_cast<int>(decision.positions.size()),
              now_,
              std::nullopt};
  Grant message{++last_lease_, request.ticket, lease.wanted, 0, {}};
  for (int p : decision.positions) {
    NIGH_ASSERT(free_.has(p), "no cpu is granted twice");
    free_.remove(p);
    lease.cpus.add(p);
    message.team.add(machine_.cpu(p));
  }
  lease.floats = has_unseen_strangers_ || lease.cpus.intersects(busy_);
  message.floats = lease.floats ? 1 : 0;
  auto& owner = program(request.owner);
  owner.held += lease.size;
  owner.want_until = 0;
  owner.waited += now_ - request.since;
  ++owner.granted;
  leases_.emplace(last_lease_, std::move(lease));
  send(request.owner, message);
}

void Coordinator::revoke(Lease& lease, LeaseId id, Revoke::Reason why) {
  lease.revoked = now_;
  ++revocations_;
  send(lease.owner, Revoke{id, why});
}

// Nobody knows here whether it is; whoever does gives it back, or nothing happens.
void Coordinator::ask_if_idle(Lease& lease, LeaseId id) {
  lease.asked_if_idle = now_;
  send(lease.owner, Revoke{id, Revoke::Reason::if_idle});
}

// Asks back what those who wait are to get: as many cpus as make equal parts, from those who have
// most, then from those who have had them longest. For whom has been first in line for a slice,
// everything that is in the way. Those in want count as if they waited.
void Coordinator::make_room() {
  if (queue_.empty() && !anybody_in_want()) return;
  int const part = equal_part();
  auto const wanted = wanted_by_all();
  auto usable = [&](PositionSet const& cpus) {
    auto both = cpus;
    both &= wanted;
    return both.count();
  };
  int lacking = -usable(free_);
  for (Waiting const& w : queue_)
    lacking += std::min({part, w.demand.optimal, program(w.owner).allowed_cpus, most_for(w.owner)});
  lacking += lacking_in_want();

  std::vector<std::tuple<int, LeaseId, Lease*>> ripe;  // ids grow with time
  for (auto& [id, lease] : leases_) {
    if (lease.revoked) lacking -= usable(lease.cpus);
    if (queue_.empty() && is_in_want(program(lease.owner))) continue;
    if (lease.cpus.intersects(wanted) && (is_ripe(lease) || is_ripe_if_idle(lease)))
      ripe.emplace_back(-program(lease.owner).held, id, &lease);
  }
  std::sort(ripe.begin(), ripe.end());
  bool const is_due = !queue_.empty() && first_since_ + slice_ <= now_;
  auto const first = is_due ? program(queue_.front().owner).allowed : PositionSet(machine_.size());
  for (auto& [held, id, lease] : ripe) {
    if (lacking <= 0 && !lease->cpus.intersects(first)) continue;
    if (!is_ripe(*lease)) {
      ask_if_idle(*lease, id);
      continue;
    }
    lacking -= usable(lease->cpus);
    revoke(*lease, id, Revoke::Reason::others_wait);
  }
}

// Nobody waits, and cpus are free: a lease that would be a quarter larger by now is asked back, for
// its program to ask anew; so is one whose team had better be bound to its cpus, or not any more.
// One at a time, for each changes what the next would get.
void Coordinator::offer_more() {
  if (!may_grow_ || !queue_.empty() || anybody_in_want() || now_ < next_offer_) return;
  next_offer_ = now_ + options_.slice_us;
  may_grow_ = false;
  for (auto& [id, lease] : leases_) {
    bool const is_small = !free_.empty() && lease.size < lease.demand.maximum;
    bool const is_to_move = lease.floats != (has_unseen_strangers_ || lease.cpus.intersects(busy_));
    if (lease.revoked || (!is_small && !is_to_move)) continue;
    if (!is_ripe(lease)) {
      may_grow_ = true;
      continue;
    }
    if (!is_to_move && !is_larger_by_now(lease)) continue;
    revoke(lease, id, Revoke::Reason::more_free);
    may_grow_ = true;
    return;
  }
}

bool Coordinator::is_larger_by_now(Lease const& lease) const {
  auto available = free_;
  available |= lease.cpus;
  available -= busy_;
  available &= program(lease.owner).allowed;
  auto const demand = within_quota(lease.demand, most_for(lease.owner, lease.size));
  auto const decision =
      policy::decide(machine_, options_.allocation, available, {demand, lease.place, 1});
  auto const size = static_cast<int>(decision.positions.size());
  return size >= lease.size + std::max(1, lease.size / 4);
}

std::optional<Time> Coordinator::next_tick() const {
  auto next = next_tick_outside();
  auto const at = [&](Time t) {
    if (t > now_ && (!next || t < *next)) next = t;
  };
  at(want_until_);
  if (queue_.empty() && !anybody_in_want()) {
    if (may_grow_ && !leases_.empty()) at(std::max(next_offer_, now_ + 1));
    return next;
  }
  bool is_patient = false;
  for (Waiting const& w : queue_) {
    if (w.until)
      at(*w.until);
    else
      is_patient = true;
  }
  if (!queue_.empty()) at(first_since_ + slice_);
  if (anybody_in_want())
    for (auto const& [connection, p] : programs_) at(p.kept_until);
  for (auto const& [id, lease] : leases_) {
    if (!lease.revoked) at(lease.since + slice_);
    if (lease.revoked && is_patient) at(*lease.revoked + options_.overdue_us);
    if (!lease.revoked && !is_ripe(lease)) at(ripe_if_idle_at(lease));
  }
  return next;
}

}  // namespace nigh::coordinator
