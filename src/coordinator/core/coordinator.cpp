// SPDX-License-Identifier: Apache-2.0
// What each event changes. Who gets which cpus after that is in serve.cpp; what is told of it, in
// accounts.cpp.
#include "coordinator/core/coordinator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nigh::coordinator {

using policy::PositionSet;

Coordinator::Coordinator(policy::CoreMap machine, CoordinatorOptions options, Time now)
    : machine_(std::move(machine)),
      options_(options),
      started_(now),
      now_(now),
      claims_until_(now + options.claims_us),
      free_(PositionSet::all(machine_.size())),
      busy_(machine_.size()),
      slice_(options.slice_us) {
  for (int p = 0; p < machine_.size(); ++p)
    NIGH_ASSERT(machine_.cpu(p) < max_cpus, "cpus have numbers that messages can carry");
}

std::vector<Send> Coordinator::step(Event const& event, Time now) {
  now_ = std::max(now_, now);
  out_.clear();
  std::visit([this](auto const& e) { happen(e); }, event);
  end_overdue();
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
  std::visit([&](auto const& m) { take(e.from, m); }, e.message);
}

void Coordinator::happen(Lost const& e) {
  auto const found = programs_.find(e.connection);
  if (found == programs_.end()) return;
  for (auto lease = leases_.begin(); lease != leases_.end();)
    lease = lease->second.owner == e.connection ? end(lease) : std::next(lease);
  bool const was_first = !queue_.empty() && queue_.front().owner == e.connection;
  std::erase_if(queue_, [&](Waiting const& w) { return w.owner == e.connection; });
  if (was_first) first_since_ = now_;
  std::erase_if(outside_, [&](Waiting const& w) { return w.owner == e.connection; });
  quotas_.forget(e.connection);
  by_number_.erase(found->second.number);
  programs_.erase(found);
}

void Coordinator::happen(Load const& e) {
  busy_ = PositionSet(machine_.size());
  for (int p = 0; p < machine_.size(); ++p)
    if (e.busy.has(machine_.cpu(p))) busy_.add(p);
  has_unseen_strangers_ = e.is_unseen_elsewhere;
  may_grow_ = true;  // or had better not be bound any more, or may be again
}

void Coordinator::happen(Known const& e) {
  auto const found = programs_.find(e.connection);
  if (found == programs_.end()) return;
  found->second.regions.recall(e.regions);
  send_advice(e.connection, found->second.regions);
}

void Coordinator::take(Connection from, Register const& m) {
  if (programs_.find(from) != programs_.end())
    return refuse(from, Refusal::Reason::already_registered);
  if (programs_.size() >= options_.programs)
    return refuse(from, Refusal::Reason::too_many_programs);
  auto allowed = PositionSet(machine_.size());
  for (int p = 0; p < machine_.size(); ++p)
    if (m.allowed.has(machine_.cpu(p))) allowed.add(p);
  int const cpus = allowed.count();
  if (cpus == 0) return refuse(from, Refusal::Reason::no_cpus);
  Program program{.number = ++last_program_,
                  .pid = m.pid,
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
  auto const is_it = [&](Waiting const& w) { return w.owner == from && w.ticket == ticket; };
  bool const taken = std::any_of(queue_.begin(), queue_.end(), is_it) ||
                     std::any_of(outside_.begin(), outside_.end(), is_it);
  if (taken) refuse(from, Refusal::Reason::ticket_in_use, ticket);
  return !taken;
}

// False if the lease is another program's. One that is no more may just have ended: no matter.
bool Coordinator::give_back(Connection from, LeaseId id) {
  auto const lease = leases_.find(id);
  if (lease == leases_.end()) return true;
  if (lease->second.owner != from) return false;
  end(lease);
  return true;
}

void Coordinator::take(Connection from, Request const& m) {
  auto const returned = leases_.find(m.returned);
  bool const gives_back = returned != leases_.end();
  if (gives_back && returned->second.owner != from)
    return refuse(from, Refusal::Reason::not_its_lease, m.ticket);
  if (!has_room_for(from, m.ticket, gives_back)) return;
  if (gives_back) end(returned);
  int const place = m.place == unknown_place ? -1 : machine_.position(static_cast<int>(m.place));
  auto& owner = program(from);
  Waiting request{from, m.region, m.ticket, owner.regions.demand(m.region, m.demand), place, now_};
  if (m.patience_us != 0) request.until = now_ + m.patience_us;
  outside_.push_back(std::move(request));
  ++owner.open;
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
  grant({from, m.region, m.ticket, demand, decision.positions[0], now_}, decision);
}

void Coordinator::take(Connection from, Release const& m) {
  if (!give_back(from, m.lease)) refuse(from, Refusal::Reason::not_its_lease);
}

void Coordinator::take(Connection from, Report const& m) {
  auto& regions = program(from).regions;
  bool const has_others = waiting() > 0 || competing() > 1;
  bool const is_shared = has_others || program(from).allowed.intersects(busy_);
  regions.take(m, has_others ? options_.busy_trial_percent : options_.trial_percent, now_,
               is_shared);
  send_advice(from, regions);
}

}  // namespace nigh::coordinator
