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
  if (l.is_for_others) expect_again(owner);
  may_grow_ = true;
  return leases_.erase(lease);
}

// What has been asked back for long, and is waited for, ends. Not for one that will not wait for
// ever: it is better off on all cpus than on those where another team still runs.
void Coordinator::expire() {
  if (queue_.empty()) return;
  auto const wanted = wanted_by_the_patient();
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    auto& [id, l] = *lease;
    bool const ends =
        l.revoked && *l.revoked + options_.overdue_us <= now_ && l.cpus.intersects(wanted);
    if (ends) send(l.owner, Revoke{id, Revoke::Reason::ended});
    if (ends) l.is_for_others = false;  // it is not back
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

// Programs that hold cpus, wait, are in want, or are expected again.
int Coordinator::competing() const {
  std::vector<Connection> owners;
  for (Waiting const& w : queue_) owners.push_back(w.owner);
  for (auto const& [id, lease] : leases_) owners.push_back(lease.owner);
  if (anybody_in_want() || now_ < returning_until_)
    for (auto const& [connection, p] : programs_)
      if (is_in_want(p) || is_returning(p)) owners.push_back(connection);
  std::sort(owners.begin(), owners.end());
  auto const programs = std::unique(owners.begin(), owners.end()) - owners.begin();
  return static_cast<int>(programs);
}

// What there is for each of them when all have equally many.
int Coordinator::equal_part() const {
  return std::max(1, machine_.size() / std::max(1, competing()));
}

// Threads of a program that begin regions: those that have cpus, or wait, or are expected again.
int Coordinator::masters_of(Program const& program) const {
  int const returning = is_returning(program) ? program.returning : 0;
  return std::max(1, static_cast<int>(program.open) + returning);
}

// Of that, what one of a program's masters can have beside what others of them hold.
int Coordinator::attainable(Program const& program) const {
  int const part = std::min(program.allowed_cpus, equal_part());
  return std::max(1, std::min(part / masters_of(program), part - program.held));
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
  int most = most_for(request.owner);
  if (waiting_behind == 0)
    most = std::min(most, std::max(attainable(owner), available.count() - expected_beside(owner)));
  auto const demand = within_quota(request.demand, most);
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
      auto const owner = queue_[i].owner;
      bool const was_in_want = is_in_want(program(owner));
      grant(queue_[i], decision);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      if (i == 0) first_since_ = now_;
      // Nothing is kept for it now, and what its quota leaves to those in front of it is less.
      if (was_in_want || !quotas_.of(owner).empty()) i = 0, kept = PositionSet(machine_.size());
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
  lease.is_for_others = why == Revoke::Reason::others_wait;
  ++revocations_;
  send(lease.owner, Revoke{id, why});
}

// Nobody knows here whether it is; whoever does gives it back, or nothing happens.
void Coordinator::ask_if_idle(Lease& lease, LeaseId id) {
  lease.asked_if_idle = now_;
  send(lease.owner, Revoke{id, Revoke::Reason::if_idle});
}

// It was granted when there was more for each. That does not last for a slice: it makes room once,
// and nobody takes turns.
bool Coordinator::is_above_its_part(Lease const& lease, int part) const {
  Program const& owner = program(lease.owner);
  return !lease.revoked &&
         lease.size > std::max(1, std::min(part, owner.allowed_cpus) / masters_of(owner));
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
  for (Waiting const& w : queue_) {
    auto const& owner = program(w.owner);
    int const whole = std::min(part, owner.allowed_cpus);
    int const masters_part = std::max(1, whole / masters_of(owner));
    lacking += std::min({masters_part, w.demand.optimal, most_for(w.owner)});
  }
  lacking += lacking_in_want();

  std::vector<std::tuple<int, LeaseId, Lease*>> ripe;  // ids grow with time
  for (auto& [id, lease] : leases_) {
    if (lease.revoked) lacking -= usable(lease.cpus);
    if (queue_.empty() && is_in_want(program(lease.owner))) continue;
    bool const is_ripe_now = is_ripe(lease) || is_above_its_part(lease, part);
    if (lease.cpus.intersects(wanted) && (is_ripe_now || is_ripe_if_idle(lease)))
      ripe.emplace_back(-program(lease.owner).held, id, &lease);
  }
  std::sort(ripe.begin(), ripe.end());
  bool const is_due = !queue_.empty() && first_since_ + slice_ <= now_;
  auto const first = is_due ? program(queue_.front().owner).allowed : PositionSet(machine_.size());
  for (auto& [held, id, lease] : ripe) {
    if (lacking <= 0 && !lease->cpus.intersects(first)) continue;
    if (!is_ripe(*lease) && !is_above_its_part(*lease, part)) {
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
  if (anybody_returns()) return;
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

// A program that does other things may have left its cpus in a lease that it keeps, while another
// one has few of them, and nobody waits.
void Coordinator::look_for_resting() {
  if (!queue_.empty() || now_ < next_rest_ || leases_.size() < 2) return;
  next_rest_ = now_ + options_.rest_us;
  PositionSet wanted(machine_.size());
  for (auto const& [id, lease] : leases_)
    if (has_few(lease)) wanted |= program(lease.owner).allowed;
  for (auto const& [id, lease] : leases_)
    if (!lease.revoked && lease.cpus.intersects(wanted))
      send(lease.owner, Revoke{id, Revoke::Reason::if_rested});
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
    if (may_grow_ && !leases_.empty())
      at(std::max({next_offer_, anybody_returns() ? returning_until_ : 0, now_ + 1}));
    auto const few = [this](auto const& l) { return has_few(l.second); };
    if (leases_.size() > 1 && std::any_of(leases_.begin(), leases_.end(), few))
      at(std::max(next_rest_, now_ + 1));
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
