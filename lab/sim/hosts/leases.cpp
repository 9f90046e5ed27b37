// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/leases.hpp"

#include <algorithm>
#include <utility>

#include "coordinator/protocol/trial_runs.hpp"

namespace nigh::sim {

namespace {

constexpr std::uint32_t mail_came = 0, tick_came = 1;
constexpr auto report_every = static_cast<Time>(coordinator::Report::every_ns);

coordinator::Time microseconds(Time t) { return t / 1000; }

}  // namespace

Leases::Leases(Simulation& simulation, Actor actor, TeamReceiver& programs, policy::CoreMap map,
               policy::CoreAllocation how, Time message, int count, bool tells)
    : simulation_(simulation),
      actor_(actor),
      programs_(programs),
      map_(std::move(map)),
      coordinator_(
          map_,
          [&] {
            coordinator::CoordinatorOptions options;
            options.allocation.how = how;
            return options;
          }(),
          0),
      message_(message),
      tells_(tells),
      held_(static_cast<std::size_t>(count)) {}

int Leases::begin_program(int program) {
  coordinator::Register hello;
  for (int p = 0; p < map_.size(); ++p) hello.allowed.add(map_.cpu(p));
  send(coordinator::Received{static_cast<coordinator::Connection>(program), hello});
  // Until its first region it runs where the system puts it: on a cpu that nobody has a lease for.
  auto const& free = coordinator_.free();
  int place = free.next(next_place_ % map_.size(), map_.size());
  if (place == map_.size()) place = free.next(0, map_.size());
  if (place == map_.size()) place = next_place_ % map_.size();
  next_place_ = place + 1;
  return place;
}

void Leases::end_program(int program) {
  held(program) = {};
  send(coordinator::Lost{static_cast<coordinator::Connection>(program)});
}

coordinator::Demand Leases::told(policy::ThreadDemand d) const {
  if (!tells_) return {};
  return {static_cast<std::uint32_t>(d.maximum), static_cast<std::uint32_t>(d.optimal)};
}

coordinator::RegionWord Leases::advice(Held const& h) {
  auto const found = h.advice.find(h.region);
  return found == h.advice.end() ? coordinator::RegionWord{} : found->second;
}

// Threads that the region could use, as coordinator::LeaseClient has it.
std::uint32_t Leases::most(Held const& h) {
  auto const told = h.wish.maximum > 0 ? h.wish.maximum : coordinator::max_cpus;
  auto const word = advice(h);
  auto const learnt = word.maximum() == 0 ? 0 : std::max(word.maximum(), word.size());
  return h.wish.is_known() || learnt == 0 ? told : std::min<std::uint32_t>(told, learnt);
}

void Leases::enter(int program, int region, policy::ThreadDemand demand, int place) {
  Held& h = held(program);
  h.region = region;
  h.wish = told(demand);
  auto const wanted = most(h);
  bool const suits =
      h.lease != 0 && !h.asked_back && (wanted <= h.team.size() || wanted <= h.asked);
  if (suits) return begin(program);
  h.asked = wanted;
  coordinator::Request request;
  request.region = static_cast<coordinator::RegionId>(region);
  request.ticket = ++h.ticket;
  request.demand = h.wish;
  request.place = static_cast<std::uint32_t>(map_.cpu(place));
  request.returned = std::exchange(h.lease, 0);
  h.asked_back = false;
  send(coordinator::Received{static_cast<coordinator::Connection>(program), request});
}

// Of those that the lease has; as coordinator::LeaseClient has it.
std::size_t Leases::team_size(Held& h) {
  auto const can =
      h.wish.maximum > 0 ? std::min<std::size_t>(h.wish.maximum, h.team.size()) : h.team.size();
  h.is_run_of_trial = false;
  if (h.wish.is_known()) return can;
  auto const word = advice(h);
  auto const usual = word.is_limited() ? std::min<std::size_t>(can, word.maximum()) : can;
  if (word.trial() == 0) return usual;
  if (word != h.trial) {
    h.trial = word;
    h.trial_runs = 0;
  }
  if (h.trial_runs >= coordinator::TrialRuns::count) return usual;
  auto const run = h.trial_runs++;
  h.is_run_of_trial = coordinator::TrialRuns::is_reported(run);
  return coordinator::TrialRuns::has_its_team(run) ? std::min<std::size_t>(can, word.size())
                                                   : usual;
}

void Leases::begin(int program) {
  Held& h = held(program);
  h.inside = true;
  auto team = h.team;
  team.resize(team_size(h));
  programs_.begin_region(program, std::move(team));
}

void Leases::leave(int program, int region, int threads, Time duration) {
  Held& h = held(program);
  h.inside = false;
  h.unreported += duration;
  bool const is_long = duration >= report_every;
  if (h.is_run_of_trial || is_long || region == h.due)
    report(program, threads, duration, h.is_run_of_trial ? h.trial.trial() : 0);
  if (h.unreported >= report_every) {
    h.unreported = 0;
    if (!is_long) h.due = region;
  }
  if (h.lease != 0 && h.asked_back)
    send(coordinator::Received{static_cast<coordinator::Connection>(program),
                               coordinator::Release{std::exchange(h.lease, 0)}});
}

void Leases::report(int program, int threads, Time duration, std::uint32_t trial) {
  Held& h = held(program);
  send(coordinator::Received{
      static_cast<coordinator::Connection>(program),
      coordinator::Report{static_cast<coordinator::RegionId>(h.region),
                          static_cast<std::uint32_t>(threads),
                          static_cast<std::uint64_t>(std::max<Time>(1, duration)), trial}});
  if (trial == 0 && h.region == h.due) h.due = no_region;
}

void Leases::send(coordinator::Event event) {
  mail_.push_back(ToCoordinator{std::move(event)});
  simulation_.events.post(simulation_.now() + message_, actor_, mail_came);
}

void Leases::step(coordinator::Event const& event) {
  std::deque<coordinator::Event> todo{event};
  while (!todo.empty()) {
    for (auto& mail : coordinator_.step(todo.front(), microseconds(simulation_.now()))) {
      auto const* const revoke = std::get_if<coordinator::Revoke>(&mail.message);
      Held& h = held(static_cast<int>(mail.to));
      // It lies in memory that both share.
      if (auto const* const word = std::get_if<coordinator::Advice>(&mail.message)) {
        h.advice.insert_or_assign(static_cast<int>(word->region), coordinator::RegionWord(*word));
        continue;
      }
      if (revoke != nullptr && revoke->lease == h.lease && !h.inside) {
        h.lease = 0;
        todo.push_back(coordinator::Received{mail.to, coordinator::Release{revoke->lease}});
        continue;
      }
      if (revoke != nullptr && !coordinator::is_for_good(revoke->reason)) continue;
      mail_.push_back(std::move(mail));
      simulation_.events.post(simulation_.now() + message_, actor_, mail_came);
    }
    todo.pop_front();
  }
  auto const tick = coordinator_.next_tick();
  if (!tick) return;
  Time const at = std::max(simulation_.now() + 1, *tick * 1000);
  if (ticks_at_ > simulation_.now() && ticks_at_ <= at) return;
  ticks_at_ = at;
  simulation_.events.post(at, actor_, tick_came);
}

void Leases::happen(Event const& event) {
  if (event.what == tick_came) {
    if (event.at == ticks_at_) step(coordinator::Tick{});
    return;
  }
  auto const mail = std::move(mail_.front());
  mail_.pop_front();
  if (auto const* in = std::get_if<ToCoordinator>(&mail))
    step(in->event);
  else
    arrive(std::get<coordinator::Send>(mail));
}

void Leases::arrive(coordinator::Send const& mail) {
  auto const program = static_cast<int>(mail.to);
  Held& h = held(program);
  if (auto const* grant = std::get_if<coordinator::Grant>(&mail.message)) {
    h.lease = grant->lease;
    h.asked_back = false;
    h.team.clear();
    for (int t = 0; t < grant->team.size(); ++t) h.team.push_back(map_.position(grant->team[t]));
    begin(program);
  } else if (auto const* revoke = std::get_if<coordinator::Revoke>(&mail.message)) {
    if (revoke->lease != h.lease) return;
    if (revoke->reason == coordinator::Revoke::Reason::ended) {
      h.lease = 0;
    } else if (h.inside) {
      h.asked_back = true;
    } else {
      send(coordinator::Received{mail.to, coordinator::Release{std::exchange(h.lease, 0)}});
    }
  }
}

}  // namespace nigh::sim
