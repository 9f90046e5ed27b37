// SPDX-License-Identifier: Apache-2.0
// Hands out cpus, and asks back leases for that.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "coordinator/core/coordinator.hpp"
#include "policy/cpus/thread_count.hpp"
#include "policy/cpus/rank_cpus.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

namespace {
constexpr Time slices_of_others = 10;
}  // namespace

Coordinator::Leases::iterator Coordinator::end(Leases::iterator lease) {
  Lease const& l = lease->second;
  count_time(l);
  free_ |= l.cpus;
  auto& owner = *l.program;
  owner.held -= l.size;
  owner.user->held -= l.size;
  owner.user->without_since = now_;
  --owner.open;
  if (l.is_for_others) expect_again(owner);
  recount(owner);
  may_grow_ = true;
  return leases_.erase(lease);
}

// Ends a lease that was asked back long ago and is waited for. Not for a request of the same user
// that limits its wait: it is better off on all cpus than on those where another team still runs.
void Coordinator::expire() {
  if (queue_.empty() && in_want_.empty()) return;
  auto const wanted = wanted_by_the_patient();
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    auto& [id, l] = *lease;
    bool const is_overdue = l.revoked && *l.revoked + options_.overdue_us <= now_;
    bool const ends = (is_overdue && l.cpus.intersects(wanted)) || is_overdue_for_another_user(l);
    if (ends) end_and_back_off(id, l);
    lease = ends ? end(lease) : std::next(lease);
  }
}

bool Coordinator::is_overdue_for_another_user(Lease const& lease) const {
  if (competing_users_ < 2 || !lease.revoked ||
      *lease.revoked + options_.overdue_between_users_us > now_)
    return false;
  auto const takes = [&](Program const& asker) { return keeps_from_its_part(lease, asker); };
  return std::any_of(queue_.begin(), queue_.end(),
                     [&](Waiting const& w) { return takes(*w.program); }) ||
         std::any_of(in_want_.begin(), in_want_.end(), [&](auto const* p) { return takes(*p); });
}

// A user that does not back off.
bool Coordinator::keeps_from_its_part(Lease const& lease, Program const& asker) const {
  return asker.user != lease.program->user && !has_its_part(*asker.user) &&
         !asker.user->back_off.is_on(now_) && may_take(asker, lease) &&
         asker.allowed.intersects(lease.cpus);
}

std::map<std::pair<LeaseId, std::uint32_t>, bool> Coordinator::leases_beyond_parts() const {
  std::map<std::pair<LeaseId, std::uint32_t>, bool> found;
  auto const part = policy::user_part(machine_.size(), competing_users_);
  auto const look = [&](Program const& asker) {
    for (auto const& [id, lease] : leases_)
      if (lease.program->user->held > part && keeps_from_its_part(lease, asker))
        found.emplace(std::pair(id, asker.user->id), lease.revoked.has_value());
  };
  for (Waiting const& w : queue_) look(*w.program);
  for (auto const* p : in_want_)
    if (lacking_in_want(*p) > 0) look(*p);
  return found;
}

bool Coordinator::lacks_its_part(std::uint32_t id) const {
  auto const found = users_.find(id);
  if (found == users_.end() || found->second.back_off.is_on(now_)) return false;
  User const& user = found->second;
  int wanted = 0;
  for (auto const* const line : {&queue_, &outside_})
    for (Waiting const& w : *line)
      if (w.program->user == &user) wanted += w.suits;
  for (auto const& [connection, program] : programs_) {
    if (program.user != &user) continue;
    for (Waiting const& w : program.behind) wanted += w.suits;
    wanted += lacking_in_want(program);
  }
  int const part = policy::user_part(machine_.size(), competing_users_);
  return user.held < std::min(part, user.held + wanted);
}

bool Coordinator::backs_off(std::uint32_t user) const {
  auto const found = users_.find(user);
  return found != users_.end() && found->second.back_off.is_on(now_);
}

void Coordinator::end_and_back_off(LeaseId id, Lease& lease) {
  send(lease.owner, Revoke{id, Revoke::Reason::ended});
  lease.is_for_others = false;  // it is not back
  lease.program->back_off.strike(now_, options_.back_off);
  lease.program->user->back_off.strike(now_, options_.back_off);
}

// Whether a lease is asked back for this program.
bool Coordinator::may_take(Program const& asker, Lease const& lease) const noexcept {
  return asker.user == lease.program->user ||
         policy::may_take(asker.user->held, lease.program->user->held, machine_.size(),
                          competing_users_);
}

bool Coordinator::is_taken_for_anybody(Lease const& lease) const {
  if (competing_users_ < 2) return true;
  auto const takes = [&](Program const& asker) {
    return may_take(asker, lease) && asker.allowed.intersects(lease.cpus);
  };
  return std::any_of(queue_.begin(), queue_.end(),
                     [&](Waiting const& w) { return takes(*w.program); }) ||
         std::any_of(in_want_.begin(), in_want_.end(), [&](auto const* p) { return takes(*p); });
}

// Such users get cpus that others do not use just then, even beyond their part.
bool Coordinator::may_use_what_is_idle() const {
  return std::any_of(queue_.begin(), queue_.end(),
                     [this](Waiting const& w) { return !w.program->user->back_off.is_on(now_); });
}

// In the way of a request that has been first in line for a slice; or for much longer, if the cpus
// must come from a user with no more than its part: cpusets may leave no other way. A user that has
// its part is promised no more.
bool Coordinator::is_due(Lease const& lease) const {
  if (queue_.empty()) return false;
  Program const& first = *queue_.front().program;
  bool const is_its_own = may_take(first, lease);
  if (!is_its_own && has_its_part(*first.user)) return false;
  auto const slices = is_its_own ? 1 : slices_of_others;
  return first_since_ + slices * slice_ <= now_ && lease.cpus.intersects(first.allowed);
}

PositionSet Coordinator::wanted_by_all() const {
  PositionSet wanted(machine_.size());
  for (Waiting const& w : queue_) wanted |= w.program->allowed;
  for (auto const* p : in_want_) wanted |= p->allowed;
  return wanted;
}

// The cpus of each program when all users have equally many cpus, and so have all programs of a
// user.
int Coordinator::equal_part(Program const& program) const {
  return policy::program_part(machine_.size(), competing_users_, program.user->competing);
}

// Threads of a program that begin regions: those that have cpus, wait, or are expected again.
int Coordinator::leaders_of(Program const& program) const {
  int const returning = is_returning(program) ? program.returning : 0;
  return std::max(1, static_cast<int>(program.open) + returning);
}

int Coordinator::part_of_a_leader(Program const& program) const {
  int const part = std::min(program.allowed_cpus, equal_part(program));
  return std::max(1, part / leaders_of(program));
}

// The part of that for one of a program's leaders, beside what its other leaders hold.
int Coordinator::attainable(Program const& program) const {
  int const part = std::min(program.allowed_cpus, equal_part(program));
  return std::max(1, std::min(part_of_a_leader(program), part - program.held));
}

// A rank of an MPI program is placed from its home, so that its teams stay together and apart from
// those of its siblings.
int Coordinator::place_of(Program const& program, int leaders_cpu) const {
  auto const& [job, rank, ranks] = program.rank;
  if (job == 0) return leaders_cpu;
  return policy::place_of_rank(machine_, program.allowed, free_, static_cast<int>(rank),
                               static_cast<int>(ranks), leaders_cpu);
}

policy::CoreDecision Coordinator::decide_for(Waiting const& request, PositionSet const& kept,
                                             int waiting_behind) const {
  Program const& owner = *request.program;
  auto available = free_;
  available &= owner.allowed;
  available -= kept;
  int const room = room_while_backing_off(*owner.user);
  if (room == 0) return {request.demand.maximum, {}};
  int most = std::min(room, most_for(request.owner));
  if (waiting_behind == 0)
    most = std::min(most, std::max(attainable(owner), available.count() - expected_beside(owner)));
  auto const demand = within_quota(request.demand, most);
  if (is_anything_kept_from(request)) available -= kept_from(request, available);
  waiting_behind += in_want_beside(request, available);
  policy::CoreRequest const wish{demand, place_of(owner, request.place), attainable(owner)};
  // A program with few allowed cpus leaves others no part of these if they find theirs elsewhere.
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

// A request that leaves the line makes room for one behind it, and may change the first.
void Coordinator::serve() {
  do {
    end_overdue();
    order_line();
  } while (serve_line());
}

bool Coordinator::serve_line() {
  PositionSet kept(machine_.size());  // for requests further in front
  auto open = free_;
  bool has_granted = false;
  for (std::size_t i = 0; i < queue_.size() && !open.empty();) {
    if (room_while_backing_off(*queue_[i].program->user) == 0) {
      ++i;  // nothing is kept for it
      continue;
    }
    auto const behind = static_cast<int>(queue_.size() - i) - 1 + behind_;
    auto const decision = decide_for(queue_[i], kept, behind);
    if (decision.waits()) {
      kept |= queue_[i].program->allowed;
      ++i;
    } else {
      Waiting const request = std::move(queue_[i]);
      bool const was_in_want = is_in_want(*request.program);
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
      grant(request, decision);
      round_ = std::max(round_, request.round);
      leave_line(request);
      has_granted = true;
      // Nothing is kept for it now, and its quota leaves less to those in front of it.
      if (was_in_want || quotas_.binds(request.owner)) i = 0, kept = PositionSet(machine_.size());
    }
    open = free_;
    open -= kept;
  }
  return has_granted;
}

void Coordinator::grant(Waiting const& request, policy::CoreDecision const& decision) {
  Lease lease{request.owner,
              request.program,
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
  lease.floats = has_unseen_load_ || lease.cpus.intersects(busy_);
  message.floats = lease.floats ? 1 : 0;
  auto& owner = *request.program;
  owner.held += lease.size;
  owner.user->held += lease.size;
  leave_want(owner);
  owner.waited += now_ - request.since;
  ++owner.granted;
  leases_.emplace(last_lease_, std::move(lease));
  recount(owner);
  send(request.owner, message);
}

void Coordinator::revoke(Lease& lease, LeaseId id, Revoke::Reason why) {
  lease.revoked = now_;
  lease.is_for_others = why == Revoke::Reason::others_wait;
  ++revocations_;
  send(lease.owner, Revoke{id, why});
}

// Unknown here; the program gives it back, or nothing happens.
void Coordinator::ask_if_idle(Lease& lease, LeaseId id) {
  lease.asked_if_idle = now_;
  send(lease.owner, Revoke{id, Revoke::Reason::if_idle});
}

// It was granted when there was more for each program. It makes room once, before its slice is
// over, and no round robin follows.
bool Coordinator::is_above_its_part(Lease const& lease) const {
  return !lease.revoked && lease.size > part_of_a_leader(*lease.program);
}

// Asks back what waiting requests should get: as many cpus as make equal parts, from the programs
// with most, then from those that have had them longest; for a request that has been first in line
// for a slice, everything in its way (is_due). Programs in want count as if they waited. Cpus that were
// asked back count as free. But they may never be, since a user that has no more than its part may keep them: a slice
// later a user that has more is asked as well.
void Coordinator::make_room() {
  if (queue_.empty() && !anybody_in_want()) return;
  auto const wanted = wanted_by_all();
  auto usable = [&](PositionSet const& cpus) {
    auto both = cpus;
    both &= wanted;
    return both.count();
  };
  int lacking = -usable(free_);
  for (Waiting const& w : queue_)
    lacking += std::min({part_of_a_leader(*w.program), w.demand.optimal, most_for(w.owner)});
  lacking += lacking_in_want();
  int const part = policy::user_part(machine_.size(), leaders_);
  lacking += std::min(behind_wants_, std::min(behind_, machine_.size()) * part);

  int const part_of_user = policy::user_part(machine_.size(), competing_users_);
  auto const has_more = [&](Lease const& lease) {
    return competing_users_ > 1 && lease.program->user->held > part_of_user;
  };
  int may_not_come = 0;
  std::vector<std::tuple<int, int, LeaseId, Lease*>> ripe;  // ids grow with time
  for (auto& [id, lease] : leases_) {
    if (lease.revoked) lacking -= usable(lease.cpus);
    if (lease.revoked && *lease.revoked + slice_ <= now_ && !has_more(lease))
      may_not_come += usable(lease.cpus);
    if (queue_.empty() && is_in_want(*lease.program)) continue;
    bool const is_ripe_now = is_ripe(lease) || is_above_its_part(lease);
    if (lease.cpus.intersects(wanted) && (is_ripe_now || is_ripe_if_idle(lease)))
      ripe.emplace_back(competing_users_ > 1 ? -lease.program->user->held : 0, -lease.program->held,
                        id, &lease);
  }
  std::sort(ripe.begin(), ripe.end());
  for (auto& [of_user, held, id, lease] : ripe) {
    bool const is_in_the_way = is_due(*lease);
    if (!is_in_the_way && lacking + (has_more(*lease) ? may_not_come : 0) <= 0) continue;
    bool const is_taken = is_in_the_way || is_taken_for_anybody(*lease);
    if (!is_taken && !(is_ripe_if_idle(*lease) && may_use_what_is_idle())) continue;
    if (!is_taken || !(is_ripe(*lease) || is_above_its_part(*lease))) {
      ask_if_idle(*lease, id);
      continue;
    }
    lacking -= usable(lease->cpus);
    revoke(*lease, id, Revoke::Reason::others_wait);
  }
}

// When cpus are free that nobody who waits may use: asks back a lease that would be a quarter larger
// by now, so that its program asks anew; and when nobody waits one whose team should be bound to its
// cpus, or not any more. One at a time, for each changes what the next would get. Cpus of a program
// that has ended stay free, so the others need not have had theirs for a slice.
void Coordinator::offer_more() {
  if (!may_grow_ || now_ < next_offer_ || anybody_returns()) return;
  bool const anybody_waits = !queue_.empty() || anybody_in_want();
  auto const wanted = wanted_by_all();
  auto spare = free_;
  spare -= wanted;
  Time const soon = std::min(options_.shortest_slice_us, slice_);
  Time const least = has_one_ended_ ? soon : slice_;
  next_offer_ = now_ + (has_one_ended_ ? soon : options_.slice_us);
  may_grow_ = false;
  for (auto& [id, lease] : leases_) {
    bool const is_small = !spare.empty() && lease.size < lease.demand.maximum;
    bool const is_to_move =
        !anybody_waits && lease.floats != (has_unseen_load_ || lease.cpus.intersects(busy_));
    if (lease.revoked || (!is_small && !is_to_move)) continue;
    if (lease.since + least > now_) {
      may_grow_ = true;
      continue;
    }
    if (!is_to_move && !is_larger_by_now(lease, wanted)) continue;
    revoke(lease, id, Revoke::Reason::more_free);
    may_grow_ = true;
    return;
  }
  has_one_ended_ = may_grow_ && has_one_ended_;
}

// A program that does other things may have left its cpus in a lease that it keeps, while another
// has few cpus, and nobody waits.
void Coordinator::look_for_resting() {
  if (!queue_.empty() || now_ < next_rest_ || leases_.size() < 2) return;
  next_rest_ = now_ + options_.rest_us;
  PositionSet wanted(machine_.size());
  for (auto const& [id, lease] : leases_)
    if (has_few(lease)) wanted |= lease.program->allowed;
  for (auto const& [id, lease] : leases_)
    if (!lease.revoked && lease.cpus.intersects(wanted))
      send(lease.owner, Revoke{id, Revoke::Reason::if_rested});
}

bool Coordinator::is_larger_by_now(Lease const& lease, PositionSet const& wanted) const {
  auto available = free_;
  available |= lease.cpus;
  available -= wanted;
  available -= busy_;
  available &= lease.program->allowed;
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
  for (auto const* p : in_want_) at(p->want_until);
  if (!ends_of_patience_.empty()) at(std::get<Time>(*ends_of_patience_.begin()));
  if (may_grow_ && !leases_.empty())
    at(std::max(
        {next_offer_, anybody_returns() ? returning_.back()->returning_until : 0, now_ + 1}));
  if (queue_.empty() && !anybody_in_want()) {
    auto const few = [this](auto const& l) { return has_few(l.second); };
    if (leases_.size() > 1 && std::any_of(leases_.begin(), leases_.end(), few))
      at(std::max(next_rest_, now_ + 1));
    return next;
  }
  bool is_patient = false;
  for (Waiting const& w : queue_) {
    is_patient |= !w.until;
    User const& user = *w.program->user;
    if (auto const expected = expected_until(user); expected && user.back_off.is_on(now_))
      at(std::min(*expected, user.back_off.until()));
  }
  if (!queue_.empty()) {
    at(first_since_ + slice_);
    if (competing_users_ > 1) at(first_since_ + slices_of_others * slice_);
    if (competing_users_ > 1 && anybody_returns())
      at(returning_.back()->returning_until);  // there is more for each program
  }
  for (auto const* p : in_want_) {
    at(p->kept_until);
    at(p->want_until);
  }
  for (auto const& [id, lease] : leases_) {
    if (!lease.revoked) at(lease.since + slice_);
    if (lease.revoked && is_patient) at(*lease.revoked + options_.overdue_us);
    if (lease.revoked && competing_users_ > 1) {
      at(*lease.revoked + slice_);
      at(*lease.revoked + options_.overdue_between_users_us);
    }
    if (!lease.revoked && !is_ripe(lease)) at(ripe_if_idle_at(lease));
  }
  return next;
}

}  // namespace nigh::coordinator
