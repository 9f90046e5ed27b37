// SPDX-License-Identifier: Apache-2.0
// How each event changes the state. serve.cpp then hands out cpus; accounts.cpp describes the
// result.
#include "coordinator/core/coordinator.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace nigh::coordinator {

using policy::PositionSet;

Coordinator::Coordinator(policy::CoreMap machine, CoordinatorOptions options, Time now)
    : CoordinatorState(std::move(machine), options, now) {
  for (int p = 0; p < machine_.size(); ++p)
    NIGH_ASSERT(machine_.cpu(p) < max_cpus, "cpus have numbers that messages can carry");
}

// Called in a copy, in which all pointers still lead to the original.
void Coordinator::point_to_own() {
  auto const own_user = [this](User*& user) { user = &users_.at(user->id); };
  auto const own_program = [this](Program*& p) { p = &programs_.at(p->connection); };
  for (auto& [connection, p] : programs_) {
    own_user(p.user);
    for (Waiting& w : p.behind) own_program(w.program);
  }
  for (auto& [id, lease] : leases_) own_program(lease.program);
  for (Waiting& w : queue_) own_program(w.program);
  for (Waiting& w : outside_) own_program(w.program);
  for (User*& user : called_) own_user(user);
  for (auto& [user, at] : active_)
    if (user != nullptr) user = &users_.at(user->id);
  for (Program*& p : in_want_) own_program(p);
  for (Program*& p : returning_) own_program(p);
}

std::vector<Send> Coordinator::step(Event const& event, Time now) {
  now_ = std::max(now_, now);
  out_.clear();
  std::visit([this](auto const& e) { happen(e); }, event);
  forget_old_wants();
  forget_old_returns();
  serve();
  give_up();
  set_slice();
  make_room();
  keep_within_bounds();
  offer_more();
  look_for_resting();
#ifndef NDEBUG
  check();
#endif
  return std::move(out_);
}

void Coordinator::send(Connection to, CoordinatorMessage message) {
  out_.push_back({to, std::move(message)});
}
void Coordinator::refuse(Connection to, Refusal::Reason why, Ticket ticket) {
  ++refusals_;
  send(to, Refusal{ticket, why});
}

void Coordinator::happen(Received const& e) {
  bool const may_come_first =
      std::holds_alternative<Register>(e.message) || std::holds_alternative<Query>(e.message);
  if (!may_come_first && programs_.find(e.from) == programs_.end()) {
    Ticket ticket = 0;
    if (auto const* request = std::get_if<Request>(&e.message)) ticket = request->ticket;
    if (auto const* claim = std::get_if<Claim>(&e.message)) ticket = claim->ticket;
    refuse(e.from, Refusal::Reason::not_registered, ticket);
    return;
  }
  if (auto const* const m = std::get_if<Register>(&e.message)) return take(e.from, *m, e);
  std::visit(
      [&](auto const& m) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(m)>, Register>) take(e.from, m);
      },
      e.message);
}

void Coordinator::happen(Lost const& e) {
  auto const found = programs_.find(e.connection);
  if (found == programs_.end()) return;
  for (auto lease = leases_.begin(); lease != leases_.end();)
    lease = lease->second.owner == e.connection ? end(lease) : std::next(lease);
  Program& gone = found->second;
  std::vector<Waiting> requests(gone.behind.begin(), gone.behind.end());
  for (Waiting const& w : requests)
    if (w.kind == free_of_quotas) --behind_, behind_wants_ -= w.suits;
  gone.behind.clear();
  gone.open = 0;
  for (Waiting const& w : requests) stop_waiting(w);
  for (auto* const line : {&queue_, &outside_}) {
    auto const standing = std::find_if(line->begin(), line->end(),
                                       [&](Waiting const& w) { return w.program == &gone; });
    if (standing == line->end()) continue;
    Waiting const request = std::move(*standing);
    line->erase(standing);
    leave_line(request);
  }
  leave_want(gone);
  leave_returning(gone);
  may_grow_ = has_one_ended_ = true;
  next_offer_ = now_;
  quotas_.forget(e.connection);
  by_number_.erase(gone.number);
  User& user = *gone.user;
  programs_.erase(found);
  if (--user.programs == 0) forget_users_without_programs();
}

// Users whose leases have ended are still known when they come again soon.
void Coordinator::forget_users_without_programs() {
  std::erase_if(users_, [this](auto const& u) {
    bool const goes = u.second.programs == 0 && !u.second.back_off.is_on(now_);
    if (!goes) return false;
    std::erase(called_, &u.second);
    for (auto& active : active_)
      if (active.user == &u.second) active = {};
    return true;
  });
}

void Coordinator::happen(Load const& e) {
  busy_ = PositionSet(machine_.size());
  for (int p = 0; p < machine_.size(); ++p)
    if (e.busy.has(machine_.cpu(p))) busy_.add(p);
  has_unseen_load_ = e.is_unseen_elsewhere;
  may_grow_ = true;  // or should not be bound any more, or may be again
}

void Coordinator::happen(Known const& e) {
  auto const found = programs_.find(e.connection);
  if (found == programs_.end()) return;
  found->second.regions.recall(e.regions);
  send_advice(e.connection, found->second.regions);
}

void Coordinator::take(Connection from, Register const& m, Received const& e) {
  if (programs_.find(from) != programs_.end())
    return refuse(from, Refusal::Reason::already_registered);
  if (programs_.size() >= options_.programs)
    return refuse(from, Refusal::Reason::too_many_programs);
  auto allowed = PositionSet(machine_.size());
  for (int p = 0; p < machine_.size(); ++p)
    if (m.allowed.has(machine_.cpu(p))) allowed.add(p);
  int const cpus = allowed.count();
  if (cpus == 0) return refuse(from, Refusal::Reason::no_cpus);
  auto const [known, is_new] = users_.try_emplace(e.user);
  User& owner = known->second;
  if (is_new) owner.without_since = now_;
  owner.id = e.user;
  ++owner.programs;
  Program program{.connection = from,
                  .user = &owner,
                  .number = ++last_program_,
                  .pid = m.pid,
                  .started = e.started,
                  .name = m.name,
                  .rank = m.rank,
                  .registered = allowed,
                  .allowed = allowed,
                  .allowed_cpus = cpus,
                  .regions = Regions(cpus, options_.regions)};
  send(from, Welcome{program.number, static_cast<std::uint32_t>(program.allowed_cpus)});
  by_number_[program.number] = from;
  programs_.emplace(from, std::move(program));
}

std::vector<KnownRegion> Coordinator::known_regions(Connection connection) const {
  auto const found = programs_.find(connection);
  return found == programs_.end() ? std::vector<KnownRegion>() : found->second.regions.known();
}

std::uint64_t Coordinator::reports(Connection connection) const {
  auto const found = programs_.find(connection);
  return found == programs_.end() ? 0 : found->second.regions.reports();
}

void Coordinator::send_advice(Connection to, Regions& regions) {
  for (Advice const& advice : regions.take_advice()) send(to, advice);
}

bool Coordinator::has_room_for(Connection from, Ticket ticket, bool gives_one_back) {
  if (program(from).open - (gives_one_back ? 1 : 0) >= options_.open_requests) {
    refuse(from, Refusal::Reason::too_many_requests, ticket);
    return false;
  }
  Program const& owner = program(from);
  auto const has_it = [&](std::deque<Waiting> const& requests) {
    return std::any_of(requests.begin(), requests.end(),
                       [&](Waiting const& w) { return w.program == &owner && w.ticket == ticket; });
  };
  bool const taken =
      has_it(owner.behind) || (owner.stands != Stands::nowhere &&
                               has_it(owner.stands == Stands::in_line ? queue_ : outside_));
  if (taken) refuse(from, Refusal::Reason::ticket_in_use, ticket);
  return !taken;
}

// False if the lease is another program's. A lease that is unknown may just have ended: no harm.
bool Coordinator::give_back(Connection from, LeaseId id) {
  auto const lease = leases_.find(id);
  if (lease == leases_.end()) return true;
  if (lease->second.owner != from) return false;
  note_activity(*lease->second.program->user);
  end(lease);
  return true;
}

void Coordinator::take(Connection from, Request const& m) {
  auto const returned = leases_.find(m.returned);
  bool const gives_back = returned != leases_.end();
  if (gives_back && returned->second.owner != from)
    return refuse(from, Refusal::Reason::not_its_lease, m.ticket);
  if (!has_room_for(from, m.ticket, gives_back)) return;
  if (!policy::may_have_one_more(program(from).user->waiting, waiting_, options_.requests))
    return refuse(from, Refusal::Reason::too_many_requests, m.ticket);
  if (gives_back) end(returned);
  int const place = m.place == unknown_place ? -1 : machine_.position(static_cast<int>(m.place));
  auto& owner = program(from);
  Waiting request{from,  &owner, m.region, m.ticket, owner.regions.demand(m.region, m.demand),
                  place, now_};
  if (m.patience_us != 0) request.until = now_ + m.patience_us;
  ++owner.open;
  note_activity(*owner.user);
  stand_behind(std::move(request));
}

void Coordinator::take(Connection from, Claim const& m) {
  if (!has_room_for(from, m.ticket, false)) return;
  auto& owner = program(from);
  auto const demand = owner.regions.demand(m.region, m.demand);
  policy::CoreDecision decision{demand.maximum, {}};
  if (now_ <= claims_until_)
    for (int thread = 0; thread < std::min({m.team.size(), demand.maximum, left_for(from)});
         ++thread) {
      int const p = machine_.position(m.team[thread]);
      if (p >= 0 && free_.has(p) && owner.allowed.has(p)) decision.positions.push_back(p);
    }
  if (decision.waits()) return refuse(from, Refusal::Reason::cpus_taken, m.ticket);
  ++owner.open;
  grant({from, &owner, m.region, m.ticket, demand, decision.positions[0], now_}, decision);
}

void Coordinator::take(Connection from, Release const& m) {
  if (!give_back(from, m.lease)) refuse(from, Refusal::Reason::not_its_lease);
}

void Coordinator::take(Connection from, Report const& m) {
  auto& regions = program(from).regions;
  bool const has_others = waiting_ > 0 || competing_ > 1;
  bool const is_shared = has_others || program(from).allowed.intersects(busy_);
  regions.take(m, has_others ? options_.busy_trial_percent : options_.trial_percent, now_,
               is_shared);
  send_advice(from, regions);
}

}  // namespace nigh::coordinator
