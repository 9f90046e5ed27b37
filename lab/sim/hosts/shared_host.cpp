// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/shared_host.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "policy/cpus/core_allocation.hpp"

namespace nigh::sim {

SharedHost::SharedHost(Machine const& machine, policy::CoreMap const& map,
                       std::vector<HostedProgram> programs, int at_once, DataPlace data)
    : machine_(machine),
      map_(map),
      memory_(machine, map, simulation_.network),
      running_(static_cast<std::size_t>(map.size()), 0),
      at_once_(at_once),
      data_(data),
      left_(static_cast<int>(programs.size())) {
  for (auto& p : programs) {
    programs_.emplace_back();
    programs_.back().what = std::move(p);
  }
}
SharedHost::~SharedHost() = default;

result<HostOutcome> SharedHost::run(TeamSource& source) {
  source_ = &source;
  for (int i = 0; i < at_once_; ++i) start_next();
  while (left_ > 0)
    if (!simulation_.step(*this)) return error{"nothing can happen any more: " + states()};
  outcome_.seconds = seconds(simulation_.now());
  outcome_.mean_end_s /= static_cast<double>(programs_.size());
  if (links_ > 0) outcome_.distance_per_link /= links_;
  if (weight_ > 0) outcome_.mean_team /= weight_;
  if (outcome_.thread_seconds > 0) outcome_.home_hops /= outcome_.thread_seconds;
  return outcome_;
}

void SharedHost::start_next() {
  if (next_ == programs_.size()) return;
  auto const program = static_cast<int>(next_++);
  programs_[static_cast<std::size_t>(program)].place = source_->begin_program(program);
  begin_round(program);
}

void SharedHost::run_thread(int program, double work_s, ThreadPlace const& place,
                            RegionProfile const* need) {
  auto const flow = memory_.start(
      simulation_.now(), work_s, place,
      need != nullptr ? MemoryNeed{need->memory, need->exchange, data_ == DataPlace::interleaved}
                      : MemoryNeed{});
  threads_.emplace(flow, Thread{program, place.cpu});
  ++running_[static_cast<std::size_t>(place.cpu)];
  source_->runs(place.cpu);
}

void SharedHost::begin_round(int program) {
  Program& p = programs_[static_cast<std::size_t>(program)];
  p.state = State::serial;
  run_thread(program, p.what.profile->between_s, {p.place, 0, -1}, nullptr);
}

void SharedHost::ask(int program) {
  Program& p = programs_[static_cast<std::size_t>(program)];
  p.state = State::asking;
  source_->enter(program, static_cast<int>(p.region), p.what.demands[p.region], p.place);
}

void SharedHost::begin_region(int program, std::vector<int> team) {
  Program& p = programs_[static_cast<std::size_t>(program)];
  NIGH_ASSERT(p.state == State::asking && !team.empty(), "who asked gets a team");
  p.team = std::move(team);
  p.place = p.team[0];
  if (p.home.empty())
    for (int cpu : p.team) p.home.push_back(memory_.domain_of(cpu));
  p.state = State::leader;
  p.region_began = simulation_.now();
  RegionProfile const& r = region(p);
  run_thread(program, r.work_s * r.serial / p.what.profile->rounds, {p.place, p.home[0], -1}, &r);
}

void SharedHost::begin_team(int program) {
  Program& p = programs_[static_cast<std::size_t>(program)];
  p.state = State::team;
  p.team_began = simulation_.now();
  RegionProfile const& r = region(p);
  auto const n = p.team.size();
  p.running = static_cast<int>(n);
  double const work = r.work_s * (1 - r.serial) / p.what.profile->rounds / static_cast<double>(n);
  for (std::size_t t = 0; t < n; ++t) {
    int const home = p.home[(2 * t + 1) * p.home.size() / (2 * n)];
    int const neighbour = n > 1 ? memory_.domain_of(p.team[(t + 1) % n]) : -1;
    run_thread(program, work, {p.team[t], home, neighbour}, &r);
  }
}

// Fork and join, and what each thread costs the others; and at each of the round's entries the wait
// for the thread whose cpu is taken by most others, each for a slice.
void SharedHost::meet(int program) {
  Program& p = programs_[static_cast<std::size_t>(program)];
  p.state = State::meeting;
  count(p, seconds(simulation_.now() - p.team_began));
  RegionProfile const& r = region(p);
  int others = 0;
  for (int cpu : p.team) others = std::max(others, running_[static_cast<std::size_t>(cpu)]);
  auto const n = static_cast<double>(p.team.size());
  double const entries = static_cast<double>(r.entries) / p.what.profile->rounds;
  double const each = n * machine_.barrier_ns.value + others * machine_.slice_ns.value;
  double const met = n * r.work_s * r.per_thread / p.what.profile->rounds + entries * each * 1e-9;
  simulation_.events.post(simulation_.now() + nanoseconds(met), static_cast<Actor>(program + 1), 0);
}

void SharedHost::count(Program const& p, double duration) {
  auto const n = p.team.size();
  outcome_.thread_seconds += duration * static_cast<double>(n);
  outcome_.mean_team += duration * static_cast<double>(n);
  weight_ += duration;
  outcome_.distance_per_link += policy::team_distance(map_, p.team).local * duration;
  links_ += duration * static_cast<double>(n - 1);
  for (std::size_t t = 0; t < n; ++t)
    outcome_.home_hops += duration * memory_.hops(p.home[(2 * t + 1) * p.home.size() / (2 * n)],
                                                  memory_.domain_of(p.team[t]));
}

void SharedHost::end_region(int program) {
  Program& p = programs_[static_cast<std::size_t>(program)];
  source_->leave(program, static_cast<int>(p.region), static_cast<int>(p.team.size()),
                 simulation_.now() - p.region_began);
  if (++p.region < p.what.profile->regions.size()) return ask(program);
  p.region = 0;
  if (++p.round < p.what.profile->rounds) return begin_round(program);
  p.state = State::ended;
  outcome_.mean_end_s += seconds(simulation_.now());
  --left_;
  source_->end_program(program);
  start_next();
}

void SharedHost::happen(Event const& event) {
  if (event.actor == source_actor)
    source_->happen(event);
  else
    end_region(static_cast<int>(event.actor) - 1);
}

void SharedHost::ended(FlowId flow) {
  auto const found = threads_.find(flow);
  auto const [program, cpu] = found->second;
  threads_.erase(found);
  --running_[static_cast<std::size_t>(cpu)];
  source_->ends(cpu);
  Program& p = programs_[static_cast<std::size_t>(program)];
  if (p.state == State::serial) return ask(program);
  if (p.state == State::leader) return begin_team(program);
  if (--p.running == 0) meet(program);
}

std::string SharedHost::states() const {
  constexpr std::array<std::string_view, 7> names{"queued", "serial",  "asking", "leader",
                                                  "team",   "meeting", "ended"};
  std::string text;
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    Program const& p = programs_[i];
    text += (i == 0 ? "" : ", ") + p.what.profile->name + ' ' +
            std::string(names[static_cast<std::size_t>(p.state)]) + " in round " +
            std::to_string(p.round);
  }
  return text;
}

}  // namespace nigh::sim
