// SPDX-License-Identifier: Apache-2.0
#include "simulation/fate.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

Fate::Fate(Host& host, Programs& programs, Liars& liars, bool has_quotas, bool has_liars)
    : host_(host),
      programs_(programs),
      liars_(liars),
      has_quotas_(has_quotas),
      has_liars_(has_liars),
      most_programs_(2 + world->random().below(9)),
      liars_among_(world->random().one_in(3) ? 1000 : 2 + world->random().below(12)),
      quotas_(3, 2.0) {}

void Fate::begin() {
  world->spawn(nullptr, "fate", [this] { run(); });
}

void Fate::run() {
  for (;;) {
    world->sleep(world->random().spread(500, 200'000));
    if (host_.life() != life_) {
      life_ = host_.life();
      programs_.server_is_new();
    }
    strike();
    if (world->random().one_in(64)) kernel->forget_dead();
  }
}

void Fate::stop(Process& process, Time us) {
  kernel->stop(process);
  // It may have ended by then, and its memory be gone.
  int const pid = process.pid;
  world->spawn(
      nullptr, "fate",
      [pid] {
        if (auto* const it = kernel->find(pid)) kernel->resume(*it);
      },
      us);
}

// The host has none of these for a while.
void Fate::lack(bool Kernel::* what) {
  kernel->*what = false;
  world->spawn(
      nullptr, "fate", [what] { kernel->*what = true; }, world->random().spread(1'000, 200'000));
}

void Fate::strike() {
  auto& random = world->random();
  auto const living = static_cast<std::uint32_t>(programs_.count());
  if (living < most_programs_ && random.below(3) > 0)
    return has_liars_ && random.one_in(liars_among_) ? liars_.come() : programs_.come();
  auto* const program = programs_.any();
  switch (random.below(32)) {
    case 0:
    case 1:
    case 2:
      if (program == nullptr) return;
      world->saw(Seen::program_killed);
      world->log("kills %1", program->pid);
      return programs_.kill(*program);
    case 3:
    case 4:
      if (program == nullptr || program->is_stopped) return;
      world->saw(Seen::program_stopped);
      world->log("stops %1", program->pid);
      return stop(*program, random.spread(1'000, 5'000'000));
    case 5:
      if (!host_.is_asleep() || !random.one_in(6)) return;
      world->saw(Seen::server_killed);
      world->log("kills the server");
      return host_.kill();
    case 6:
      if (random.one_in(6)) host_.leave();
      return;
    case 7:
      if (kernel->server == nullptr || kernel->server->is_stopped || random.one_in(4)) return;
      world->saw(Seen::server_stopped);
      world->log("stops the server");
      return stop(*kernel->server, random.spread(1'000, 1'000'000));
    case 8:
    case 9: {
      auto const cpu = random.below(static_cast<std::uint32_t>(host_.cpus()));
      kernel->external_load[cpu] = !kernel->external_load[cpu];
      return world->saw(Seen::external_load_changed);
    }
    case 10:
      return lack(&Kernel::has_descriptors);
    case 11:
      return lack(&Kernel::has_memory);
    case 12:
    case 13:
      return change_quota();
    case 14:
      return change_cpuset();
    case 15:
    case 16:
      if (has_liars_ && random.one_in(liars_among_)) liars_.come();
      return;
    default:
      if (has_quotas_ && program != nullptr) give_cgroup(*program);
  }
}

// Of cgroups 0, 1 and 2, the last lies in the first.
void Fate::give_cgroup(Process& process) {
  auto const set = [this](Process& p, std::uint64_t inode) {
    p.grants.quotas.push_back({quotas_[inode], {7, inode}, "cgroup"});
  };
  if (!process.grants.quotas.empty()) return;
  auto const which = world->random().below(4);
  if (which == 3) return;
  set(process, which);
  if (which == 2) set(process, 0);
}

void Fate::change_quota() {
  if (!has_quotas_) return;
  auto& random = world->random();
  auto const which = random.below(3);
  quotas_[which] = 0.5 + random.below(static_cast<std::uint32_t>(host_.cpus()) + 2);
  world->saw(Seen::quota_changed);
  world->log("sets the quota of cgroup %1 to about %2 cpus", which,
             static_cast<std::int64_t>(quotas_[which]));
  for (auto const& process : kernel->processes())
    for (auto& quota : process->grants.quotas) quota.cpus = quotas_[quota.group.inode];
}

void Fate::change_cpuset() {
  auto* const program = has_quotas_ ? programs_.any() : nullptr;
  if (program == nullptr) return;
  world->saw(Seen::cpuset_changed);
  program->grants.cpus.clear();
  for (int c = 0; c < host_.cpus(); ++c)
    if (world->random().one_in(2)) program->grants.cpus.push_back(c);
}

}  // namespace simulation
