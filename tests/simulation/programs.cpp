// SPDX-License-Identifier: Apache-2.0
#include "simulation/programs.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "platform/local_socket.hpp"

namespace simulation {

namespace core = nigh::coordinator;
using core::ClientConnection;
using core::FallbackReason;
using core::GrantedTeam;
using core::LeaseClient;

namespace {

constexpr Time answers_within = 1'000'000;  // of the client: a coordinator that is there
constexpr Time claims_within = 100'000;
constexpr Time late = 50'000;  // beyond its patience, an answer is
constexpr Time longest_patience = nigh::policy::LeasePatiencePolicy{}.longest_us;
constexpr Time look_at_clock = 5'000;  // how roughly it measures, all in all

}  // namespace

ClientConnection& Programs::program_of(One& one) {
  return *std::launder(reinterpret_cast<ClientConnection*>(&one.image->program));
}
LeaseClient& Programs::client_of(One& one, std::size_t index) {
  return *std::launder(reinterpret_cast<LeaseClient*>(&one.image->clients[index]));
}

Process* Programs::any() const {
  if (all_.empty()) return nullptr;
  return all_[world->random().below(static_cast<std::uint32_t>(all_.size()))]->process;
}

Programs::One& Programs::add(Process& process) {
  all_.push_back(std::make_unique<One>());
  auto& one = *all_.back();
  one.process = &process;
  return one;
}

void Programs::remove(One& one) {
  for (std::size_t i = 0; i < one.clients; ++i) invariants_.remove(one.members[i]);
  std::erase_if(all_, [&](auto const& other) { return other.get() == &one; });
}

void Programs::kill(Process& process) {
  auto const found =
      std::find_if(all_.begin(), all_.end(), [&](auto& one) { return one->process == &process; });
  if (found == all_.end()) return;
  remove(**found);
  kernel->kill(process);
}

// Their waits begin anew.
void Programs::server_is_new() {
  for (auto const& task : world->tasks())
    if (task->promise.within != never && !task->is_over) task->promise.began = world->now();
}

void Programs::note_patient_request(int program) {
  auto const within = 3 * answers_within + invariants_.longest_wait(host_.core()->waiting());
  for (auto const& task : world->tasks())
    if (!task->is_over && task->process != nullptr && task->process->pid == program &&
        task->promise.within != never)
      task->promise.within = std::max(task->promise.within, within),
      task->promise.waits_for_ever = true;
}

void Programs::come() {
  auto& random = world->random();
  auto& one = add(kernel->new_process(first_user + (is_besieged_ ? 0 : random.below(4))));
  one.is_brief = !random.one_in(3);
  one.is_runtime = random.one_in(5);
  one.is_brief &= !one.is_runtime;
  one.knows_all = !random.one_in(4);
  one.clients = one.is_runtime ? 1 : 1 + random.below(most_clients);
  one.longest_us = random.one_in(8) ? 4 * host_.options().overdue_us : random.spread(300, 60'000);
  one.ends_at = world->now() + random.spread(10'000, 20'000'000);
  if (random.one_in(4)) one.rank = {.job = 7, .rank = random.below(4), .ranks = 4};
  for (int c = 0; c < host_.cpus(); ++c)
    if (is_besieged_ || !random.one_in(4)) one.allowed.add(c);
  one.allowed.add(static_cast<int>(random.below(static_cast<std::uint32_t>(host_.cpus()))));
  one.process->cpu = static_cast<int>(random.below(static_cast<std::uint32_t>(host_.cpus())));
  new (&one.image->program) ClientConnection();
  for (std::size_t i = 0; i < one.clients; ++i)
    new (&one.image->clients[i]) LeaseClient(program_of(one));
  begin(one);
}

void Programs::begin(One& one) {
  one.threads_left = one.clients;
  for (std::size_t i = 0; i < one.clients; ++i) {
    one.members[i] = {};
    one.members[i].process = one.process;
    one.members[i].program = &program_of(one);
    one.members[i].client = &client_of(one, i);
    one.members[i].knows_all = one.knows_all;
    invariants_.add(one.members[i]);
  }
  world->spawn(one.process, "program", [this, &one] {
    join(one);
    for (std::size_t i = 1; i < one.clients; ++i)
      world->spawn(one.process, "thread", [this, &one, i] { run_thread(one, i); });
    if (one.is_runtime)
      run_runtime(one);
    else
      run_thread(one, 0);
  });
}

void Programs::join(One& one) {
  world->log("comes, user %1, %2 threads begin regions", one.process->user,
             static_cast<std::int64_t>(one.clients));
  invariants_.begin_call(2 * answers_within);
  program_of(one).join({.socket = "/run/nigh/nighd.sock",
                        .name = "simulated",
                        .allowed = one.allowed,
                        .rank = one.rank,
                        .listens = one.is_runtime,
                        .waits_briefly = one.is_brief});
  invariants_.end_call();
}

core::Demand Programs::some_demand(One const& one) const {
  auto& random = world->random();
  auto const maximum = 1 + random.below(static_cast<std::uint32_t>(host_.cpus()));
  if (one.knows_all) return {maximum, 1 + random.below(maximum)};
  if (random.one_in(2)) return {};
  return {maximum, random.below(2) * maximum};
}

void Programs::note(One& one, std::size_t index, GrantedTeam const& team) {
  Member& member = one.members[index];
  auto const size = static_cast<int>(team.size);
  bool const is_new = team.version != member.version || size > member.size;
  member.version = team.version;
  // A lease that came over a connection which another thread has replaced since is others' by now.
  auto const socket = one.process->get<Socket>(program_of(one).socket());
  if (!client_of(one, index).holds())
    member.link = nullptr;
  else if (socket)
    member.link = socket->link;
  if (!is_new && member.is_inside) return;
  if (!is_new) return;
  member.size = size;
  for (int i = 0; i < size; ++i)
    member.cpus[static_cast<std::size_t>(i)] = static_cast<int>(team.cpus[i]);
  if (size > 0) one.process->cpu = member.cpus[0];
}

// True if a region is to run, on cpus of its own or not.
bool Programs::enter(One& one, std::size_t index, bool exchanges) {
  Member& member = one.members[index];
  auto& program = program_of(one);
  auto& client = client_of(one, index);
  bool const is_joined = program.is_joined();
  Time within = look_at_clock + claims_within + longest_patience + 2 * late;
  // Another of its threads may be listening, for as long as its own patience.
  within += longest_patience + late;
  if (!is_joined) within += answers_within + look_at_clock;
  if (!one.is_brief)
    within = has_quotas_ ? never : 3 * answers_within + invariants_.longest_wait(0);
  bool const was_kept = client.is_kept();
  auto const began = world->now();
  auto const lag = one.process->lag_before(began);
  auto const unsent = one.process->unsent;
  auto const closed = one.closed;
  auto const life = host_.life();
  auto const servers_lag = kernel->server != nullptr ? kernel->server->lag_before(began) : 0;
  auto const region = core::RegionId{1} + world->random().below(3);
  auto const demand = some_demand(one);
  member.is_calling = true;
  invariants_.begin_call(within);
  auto const team = exchanges ? client.exchange(region, demand) : client.enter(region, demand);
  invariants_.end_call();
  member.is_calling = false;
  bool const was_there = kernel->server != nullptr && host_.life() == life &&
                         !kernel->server->is_stopped && is_joined && program.is_joined() &&
                         one.process->unsent == unsent && one.closed == closed;
  if (team.fallback == FallbackReason::no_answer && was_there && world->now() - began >= late &&
      kernel->server->lag - servers_lag + one.process->lag - lag < late / 2)
    world->fail("program " + std::to_string(one.process->pid) +
                " got no answer, though the server was there and nothing held it up");
  if (team.size > 0) {
    invariants_.granted(*one.process);
    note(one, index, team);
    bool const is_kept = was_kept && world->now() == began;
    world->saw(is_kept ? Seen::region_on_lease : Seen::region_granted);
    if (!one.is_brief && world->now() - began > 1'000) world->saw(Seen::waited_for_ever);
    world->log("begins a region on %1 cpus, the first is %2, of %3", team.size, team.cpus[0],
               member.size);
    // A grant may have lain there for long, if the program was stopped.
    invariants_.begin_region(member, is_kept ? world->now() : began);
    return true;
  }
  member.size = 0;
  if (team.fallback == FallbackReason::unplaced) {
    invariants_.denied(*one.process, began);
    // Elsewhere another of its threads may have been listening meanwhile.
    if (is_besieged_ && one.is_brief && one.clients == 1 && was_there)
      invariants_.waited(world->now() - began,
                         one.process->lag - lag + kernel->server->lag - servers_lag);
  } else {
    invariants_.granted(*one.process);  // nobody has denied it cpus
  }
  world->saw(team.fallback == FallbackReason::unplaced    ? Seen::region_unplaced
             : team.fallback == FallbackReason::refused   ? Seen::region_refused
             : team.fallback == FallbackReason::no_answer ? Seen::region_no_answer
                                                          : Seen::region_alone);
  world->log("begins a region without cpus: reason %1", static_cast<int>(team.fallback));
  return true;
}

void Programs::leave(One& one, std::size_t index) {
  Member& member = one.members[index];
  auto const took = world->now() - member.since;
  bool const had_cpus = member.is_inside;
  bool const was_kept = client_of(one, index).is_kept();
  invariants_.end_region(member);
  if (had_cpus && !was_kept) world->saw(Seen::asked_back);
  member.is_calling = true;
  invariants_.begin_call(look_at_clock);
  client_of(one, index).leave(static_cast<std::uint64_t>(took) * 1000);
  invariants_.end_call();
  member.is_calling = false;
  world->log("ends its region");
}

void Programs::run_thread(One& one, std::size_t index) {
  auto& random = world->random();
  while (world->now() < one.ends_at) {
    if (random.below(8) > 0) world->sleep(random.spread(20, 30'000));  // serial
    bool const was_kept = client_of(one, index).is_kept();
    if (random.one_in(4)) world->sleep(random.spread(100, 100'000));
    if (was_kept && !client_of(one, index).is_kept()) world->saw(Seen::taken_idle);
    enter(one, index, false);
    Member const& member = one.members[index];
    auto const threads = std::max(1, member.size);
    world->sleep(1 + random.spread(0, one.longest_us) / threads);
    leave(one, index);
    if (random.one_in(256)) close_descriptors(one);
    if (random.one_in(128)) fork(one);
  }
  end(one, index);
}

// As src/coordinator/arena has it: the lease is kept while there is work, and a thread that sleeps
// on the connection hears when it is asked for.
void Programs::run_runtime(One& one) {
  auto& random = world->random();
  auto& program = program_of(one);
  auto& client = client_of(one, 0);
  Member& member = one.members[0];
  while (world->now() < one.ends_at) {
    enter(one, 0, true);
    bool const has_lease = member.is_inside;
    for (auto const until = world->now() + random.spread(100, 200'000); world->now() < until;) {
      auto const ms = static_cast<int>((until - world->now()) / 1000 + 1);
      if (!one.process->file(program.socket())) {
        world->sleep(until - world->now());
        break;
      }
      nigh::platform::wait_until_readable(program.socket(), ms);
      program.look();
      if (!program.is_joined() || (has_lease && !client.is_kept())) break;
    }
    bool const is_kept = client.is_kept();
    if (has_lease && !is_kept) world->saw(Seen::asked_back);
    invariants_.end_region(member);
    if (is_kept && random.one_in(2) && client.pause()) {
      world->saw(Seen::lease_paused);
      world->sleep(random.spread(100, 50'000));
      if (client.resume()) {
        invariants_.begin_region(member, world->now());
        world->sleep(random.spread(100, 5'000));
        invariants_.end_region(member);
      }
    }
    if (random.one_in(4)) {
      member.is_calling = true;
      client.give_back();
      member.is_calling = false;
      member.size = 0;
      world->sleep(random.spread(100, 20'000));
    }
  }
  end(one, 0);
}

void Programs::end(One& one, std::size_t index) {
  one.members[index].is_calling = true;
  invariants_.begin_call(4 * answers_within);
  client_of(one, index).~LeaseClient();
  invariants_.end_call();
  invariants_.remove(one.members[index]);
  if (--one.threads_left > 0) return;
  world->saw(Seen::program_exited);
  world->log("ends");
  Process& process = *one.process;
  program_of(one).~ClientConnection();
  remove(one);
  kernel->kill(process);
}

// As programs do that close all descriptors they do not know.
void Programs::close_descriptors(One& one) {
  int const number = program_of(one).socket();
  if (number < 0) return;
  auto const which = static_cast<unsigned>(number);
  if (!program_of(one).begin_closing(which, which)) return;
  world->saw(Seen::connection_cut);
  world->log("closes descriptor %1", number);
  one.process->files.erase(number);
  ++one.closed;
  program_of(one).end_closing();
}

// The child has one thread, and its memory is its parent's at that moment. Here it lies elsewhere,
// so what points to the old place is led to the new one.
void Programs::fork(One& one) {
  if (one.is_child || all_.size() > 12) return;
  world->saw(Seen::program_forked);
  auto& process = kernel->fork(*one.process);
  auto& child = add(process);
  child.is_child = true;
  child.is_brief = one.is_brief;
  child.knows_all = one.knows_all;
  child.longest_us = one.longest_us;
  child.ends_at = world->now() + world->random().spread(1'000, 1'000'000);
  child.allowed = one.allowed;
  child.image = std::make_unique<Image>(*one.image);
  auto const old_place = reinterpret_cast<std::uintptr_t>(&one.image->program);
  auto const new_place = reinterpret_cast<std::uintptr_t>(&child.image->program);
  auto* const bytes = reinterpret_cast<std::byte*>(child.image.get());
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= sizeof(Image);
       at += sizeof(std::uintptr_t)) {
    std::uintptr_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word == old_place) std::memcpy(bytes + at, &new_place, sizeof word);
  }
  world->as(process, [&] { program_of(child).drop(); });
  world->log("forks %1", process.pid);
  begin(child);
}

}  // namespace simulation
