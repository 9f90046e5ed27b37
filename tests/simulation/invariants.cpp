// SPDX-License-Identifier: Apache-2.0
#include "simulation/invariants.hpp"

#include <algorithm>
#include <string>

#include "policy/cpus/lease_patience.hpp"

namespace simulation {

namespace core = nigh::coordinator;

namespace {

// For how long a lease lasts at least that is asked for; a core that is fair to users may end it
// earlier for another one.
template <class Options>
Time shortest_overdue(Options const& options) {
  if constexpr (requires { options.overdue_between_users_us; })
    return std::min(options.overdue_us, options.overdue_between_users_us);
  else
    return options.overdue_us;
}

}  // namespace

void Invariants::remove(Member& member) {
  end_region(member);
  std::erase(members_, &member);
}

// Its lease still is: the connection has not been cut, nor can the lease have ended as overdue.
bool Invariants::is_exclusive(Member const& m) const {
  return m.link && !m.link->is_cut && world->now() - m.since < shortest_overdue(host_.options());
}

// No cpu has two leases: no region begins on a cpu that another one has by a lease that lasts.
void Invariants::begin_region(Member& member, Time not_asked_before) {
  member.is_inside = true;
  member.since = not_asked_before;
  for (int i = 0; i < member.size; ++i) {
    auto const cpu = static_cast<std::size_t>(member.cpus[static_cast<std::size_t>(i)]);
    for (Member const* other : inside_[cpu]) {
      if (is_exclusive(member) && is_exclusive(*other))
        world->fail("programs " + std::to_string(member.process->pid) + " and " +
                    std::to_string(other->process->pid) + " are on cpu " + std::to_string(cpu) +
                    " at once, on the second one's since " + std::to_string(other->since) + " us");
      bool const is_cut = !other->link || other->link->is_cut;
      world->saw(is_cut ? Seen::region_shared : Seen::region_overdue);
    }
    inside_[cpu].push_back(&member);
    ++kernel->regions_at[cpu];
  }
}

void Invariants::end_region(Member& member) {
  if (!member.is_inside) return;
  member.is_inside = false;
  member.process->worked += member.size * (world->now() - member.since);
  for (int i = 0; i < member.size; ++i) {
    auto const cpu = static_cast<std::size_t>(member.cpus[static_cast<std::size_t>(i)]);
    std::erase(inside_[cpu], &member);
    --kernel->regions_at[cpu];
  }
}

void Invariants::begin_call(Time within) {
  Task& task = *world->current();
  task.promise = {world->now(), within, task.process->lag_before(world->now())};
}
void Invariants::end_call() {
  check_calls();
  world->current()->promise = {};
}

void Invariants::denied(Process const& process, Time asked) {
  auto const lag = kernel->server == nullptr ? 0 : kernel->server->lag;
  // One that was stopped meanwhile has not asked.
  bool const asks_on = world->now() - asked <= asks_on_within;
  auto& asking = asking_[process.user];
  if (!asks_on || asking.life != host_.life() || asked > asking.last + asks_on_within)
    asking = {asks_on ? asked : world->now(), world->now(), lag, host_.life()};
  asking.last = world->now();
  auto const took = world->now() - asking.since - (lag - asking.lag_then);
  longest_.asking = std::max(longest_.asking, took);
}

Time Invariants::longest_wait(int in_front) const {
  return (in_front + 1) * (host_.options().slice_us + host_.options().overdue_us);
}

void Invariants::check_calls() const {
  for (auto const& task : world->tasks()) {
    if (task->is_over || task->promise.within == never || task->process->is_stopped) continue;
    // Those stand behind others for a while.
    bool const backs_off = task->promise.waits_for_ever && host_.core() != nullptr &&
                           host_.core()->backs_off(task->process->user);
    if (backs_off) task->promise.began = world->now();
    auto const taken = world->now() - task->promise.began;
    auto const held_up = task->process->lag - task->promise.lag_then;
    if (taken > task->promise.within + held_up)
      world->fail("program " + std::to_string(task->process->pid) + " (" + task->role +
                  ") has waited for " + std::to_string(taken) + " us, of which the host held it " +
                  "up for " + std::to_string(held_up) + " at most; its bound is " +
                  std::to_string(task->promise.within));
  }
}

// One program at a time: what its threads believe they hold, the core says they hold; when nothing
// is under way any more, that is all it says.
void Invariants::check_holdings() {
  if (members_.empty() || host_.core() == nullptr) return;
  Member const& first = *members_[next_++ % members_.size()];
  auto const socket = first.process->get<Socket>(first.program->socket());
  if (!socket || socket->link->name == 0 || socket->link->is_cut || socket->peer == nullptr) return;
  bool is_settled = host_.is_idle() && socket->inbox.empty() && socket->peer->inbox.empty();
  for (Member const* m : members_)
    if (m->process == first.process) is_settled &= !m->is_calling && m->knows_all;
  compare(first, is_settled);
}

void Invariants::compare(Member const& first, bool is_settled) {
  auto const link = first.process->get<Socket>(first.program->socket())->link;
  auto const held = host_.core()->held_by(link->name);
  core::CpuSet sure, perhaps;
  for (Member const* m : members_) {
    if (m->process != first.process || m->link != link) continue;
    bool const is_kept = m->client->is_kept() && !m->is_calling;
    for (int i = 0; i < m->size; ++i) {
      int const cpu = m->cpus[static_cast<std::size_t>(i)];
      if (is_kept) sure.add(cpu);
      if (is_kept || m->is_inside) perhaps.add(cpu);
    }
  }
  for (int cpu = 0; cpu < host_.cpus(); ++cpu) {
    if (sure.has(cpu) && !held.has(cpu))
      world->fail("program " + std::to_string(first.process->pid) + " has a lease of cpu " +
                  std::to_string(cpu) + ", but not by what the core says");
    if (is_settled && held.has(cpu) && !perhaps.has(cpu))
      world->fail("program " + std::to_string(first.process->pid) + " knows nothing of cpu " +
                  std::to_string(cpu) + ", which the core says that it holds");
  }
  if (is_settled) world->saw(Seen::settled);
}

// While it sleeps, the server has a descriptor and a page for each that is connected, and no more.
void Invariants::check_server() const {
  if (!host_.is_asleep()) return;
#ifdef NDEBUG  // else it does so itself
  host_.core()->check();
#endif
  if (!host_.is_idle()) return;
  auto const programs = static_cast<std::size_t>(host_.core()->programs());
  auto const& files = kernel->server->files;
  auto const sockets =
      static_cast<std::size_t>(std::count_if(files.begin(), files.end(), [](auto const& file) {
        return dynamic_cast<Socket const*>(file.second.get()) != nullptr;
      }));
  if (kernel->server->mapped.size() != programs)
    world->fail("the server maps " + std::to_string(kernel->server->mapped.size()) + " pages for " +
                std::to_string(programs) + " programs");
  constexpr std::size_t own = 4;  // the listener and its spare, the signals, the event set
  if (files.size() != sockets + own)
    world->fail("the server keeps " + std::to_string(files.size() - sockets) +
                " descriptors that are no program's");
  // A cpu that nobody holds is nobody's to wait for.
  bool const has_tick = host_.core()->next_tick().has_value();
  if (host_.core()->waiting() > 0 && !has_tick && host_.core()->leases() == 0)
    world->fail("requests wait, and nothing is to happen");
}

// A lease keeps another user from its part, while its own user has more than its part, no longer
// than until it is asked back and overdue. How soon something is asked back for a besieged user is
// measured, and has no bound of its own.
void Invariants::check_shares() {
  bool const is_there = host_.core() != nullptr && !kernel->server->is_stopped;
  if (!is_there || host_.life() != life_) beyond_.clear(), unasked_.clear(), below_part_.reset();
  life_ = host_.life();
  if (!is_there || !host_.is_asleep()) return;
  if (besieged_) check_besieged();
  auto const leases = host_.core()->leases_beyond_parts();
  std::map<unsigned, bool> is_any_asked;
  for (auto const& [lease, is_asked] : leases) is_any_asked[lease.second] |= is_asked;
  std::erase_if(beyond_, [&](auto const& b) { return !leases.contains(b.first); });
  std::erase_if(unasked_, [&](auto const& u) {
    auto const found = is_any_asked.find(u.first);
    return found == is_any_asked.end() || found->second;
  });
  auto const& options = host_.options();
  constexpr Time late = 100'000;  // a besieged server may need milliseconds for each connection
  for (auto const& [lease, is_asked] : leases) {
    auto const taken = time_since(beyond_.try_emplace(lease, begin_now()).first->second);
    longest_.beyond = std::max(longest_.beyond, taken);
    auto const within = options.slice_us + options.overdue_between_users_us + late;
    if (taken > within)
      world->fail("a lease has kept user " + std::to_string(lease.second) + " from its part for " +
                  std::to_string(taken) + " us; the bound is " + std::to_string(within));
  }
  for (auto const& [user, is_asked] : is_any_asked) {
    if (is_asked || !besieged_) continue;
    auto const taken = time_since(unasked_.try_emplace(user, begin_now()).first->second);
    longest_.unasked = std::max(longest_.unasked, taken);
  }
}

Invariants::Since Invariants::begin_now() {
  return {world->now(), kernel->server->lag_before(world->now())};
}
// Without what the host has held the server up for.
Time Invariants::time_since(Since const& since) {
  return world->now() - since.at - (kernel->server->lag - since.lag_then);
}

// These hold whatever the hostile user does with all connections and requests that it may have.
void Invariants::check_besieged() {
  if (!host_.core()->lacks_its_part(*besieged_)) return below_part_.reset();
  if (!below_part_) below_part_ = begin_now();
  auto const taken = time_since(*below_part_);
  longest_.below_part = std::max(longest_.below_part, taken);
  // The simulated server may need milliseconds for each of hundreds of connections that flood it.
  constexpr Time within = 1'000'000, late = 250'000;
  if (taken > within + late)
    world->fail("a user has waited for its part of the cpus for " + std::to_string(taken) +
                " us beside a hostile user");
}

void Invariants::waited(Time took, Time lag) {
  constexpr Time within = nigh::policy::LeasePatiencePolicy{}.longest_us, late = 10'000;
  longest_.waiting = std::max(longest_.waiting, took - lag);
  if (took - lag > within + late)
    world->fail("a region has waited for " + std::to_string(took) +
                " us beside a hostile user, of which the host held it up for " +
                std::to_string(lag) + " at most");
}

void Invariants::check() {
  auto const steps = world->steps();
  check_server();
  if (steps % 4 == 0) check_holdings();
  check_shares();
  if (steps % 64 == 0) check_calls();
}

}  // namespace simulation
