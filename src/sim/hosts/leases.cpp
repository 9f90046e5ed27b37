// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/leases.hpp"

#include <algorithm>
#include <utility>

namespace nigh::sim {

namespace {

constexpr std::uint32_t mail_came = 0, tick_came = 1;
constexpr Time report_every = 100'000'000;  // of time in regions, as the client does

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

// As coordinator::Master has it.
bool Leases::suits(Held const& h, coordinator::Demand demand) const {
  return h.lease != 0 && !h.asked_back &&
         (demand == h.asked || !demand.is_known() || demand.maximum <= h.team.size() ||
          (h.asked.is_known() && demand.maximum <= h.asked.maximum));
}

void Leases::enter(int program, int region, policy::ThreadDemand demand, int place) {
  Held& h = held(program);
  auto const wish = told(demand);
  if (suits(h, wish)) return begin(program, wish);
  h.asked = wish;
  coordinator::Request request;
  request.region = static_cast<coordinator::RegionId>(region);
  request.ticket = ++h.ticket;
  request.demand = wish;
  request.place = static_cast<std::uint32_t>(map_.cpu(place));
  request.returned = std::exchange(h.lease, 0);
  h.asked_back = false;
  send(coordinator::Received{static_cast<coordinator::Connection>(program), request});
}

void Leases::begin(int program, coordinator::Demand demand) {
  Held& h = held(program);
  h.inside = true;
  auto team = h.team;
  if (demand.is_known() && demand.maximum < team.size()) team.resize(demand.maximum);
  programs_.begin_region(program, std::move(team));
}

void Leases::leave(int program, int region, int threads, Time duration) {
  Held& h = held(program);
  h.inside = false;
  auto const from = static_cast<coordinator::Connection>(program);
  h.unreported += duration;
  if (h.unreported >= report_every) {
    h.unreported = 0;
    send(coordinator::Received{
        from, coordinator::Report{static_cast<coordinator::RegionId>(region),
                                  static_cast<std::uint32_t>(threads),
                                  static_cast<std::uint64_t>(std::max<Time>(1, duration))}});
  }
  if (h.lease != 0 && h.asked_back)
    send(coordinator::Received{from, coordinator::Release{std::exchange(h.lease, 0)}});
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
      if (revoke != nullptr && revoke->lease == h.lease && !h.inside) {
        h.lease = 0;
        todo.push_back(coordinator::Received{mail.to, coordinator::Release{revoke->lease}});
        continue;
      }
      if (revoke != nullptr && revoke->reason == coordinator::Revoke::Reason::if_idle) continue;
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
    begin(program, h.asked);
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
