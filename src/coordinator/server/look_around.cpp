// SPDX-License-Identifier: Apache-2.0
// What the server looks at twice a second while programs are there: energy, strangers, cgroups.
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "coordinator/server/server.hpp"
#include "platform/cpu_times.hpp"
#include "policy/quota.hpp"

namespace nigh::coordinator {
namespace {

constexpr Time look_every_us = 500'000;
constexpr std::size_t most_cgroups_looked_at = 64;  // each time

}  // namespace

// While somebody is there. What was used before, nobody is told of: a counter may have run over.
void Server::look_around(Time now) {
  look_at_energy(now < next_look_ + look_every_us);
  next_look_ = now + look_every_us;
  own_place_.look();
  close_slow_readers(now);
  look_at_cgroups();
  tell_how_many();
  if (!options_.minds_strangers || programs_ > many_programs) return;
  strangers_.look(core_.machine(), core_.free(), times_of_members());
  if (strangers_.have_changed()) happen(Load{strangers_.busy(), strangers_.are_unseen()});
}

// By process, of which one may be several programs.
std::map<int, std::int64_t> Server::times_of_members() const {
  std::map<int, std::int64_t> times;
  for (auto const& [connection, member] : members_) {
    if (member.page == nullptr || times.contains(member.pid)) continue;
    auto const time = member.process.look([&] { return platform::cpu_time_of(member.pid); });
    times[member.pid] = time ? time->value_or(Strangers::unknown) : Strangers::unknown;
  }
  return times;
}

void Server::look_at_energy(bool since_last) {
  Energy energy;
  for (auto const& package : energy_.look()) {
    energy.packages.push_back({{}, since_last ? package.used_uj : 0});
    for (int const cpu : package.cpus)
      if (cpu < max_cpus) energy.packages.back().cpus.add(cpu);
  }
  if (!energy.packages.empty() || measures_energy_) happen(energy);
  measures_energy_ = !energy.packages.empty();
}

// An administrator or a container's manager may change them at any time. Those that are not looked
// at now, next time.
void Server::look_at_cgroups() {
  if (core_.programs() == 0) return;
  platform::CgroupReader reader(options_.cgroup_root);
  // What the core says to it may close a member.
  std::vector<Connection> some;
  auto const look_from = [&](auto first, auto last) {
    for (; first != last && some.size() < most_cgroups_looked_at; ++first)
      if (first->second.page != nullptr) some.push_back(first->first);
  };
  auto const next = members_.upper_bound(looked_at_last_);
  look_from(next, members_.end());
  look_from(members_.begin(), next);
  if (!some.empty()) looked_at_last_ = some.back();
  for (auto const connection : some)
    if (auto const found = members_.find(connection); found != members_.end())
      look_at_cgroups(connection, found->second, reader);
}

// Where the system says nothing at the moment, what was known stays.
void Server::look_at_cgroups(Connection whose, Member& member, platform::CgroupReader& reader) {
  auto const found = member.process.look([&] { return reader.grants_to(member.pid); });
  if (!found) return;
  auto const& grants = *found;
  std::vector<QuotaBound> bounds;
  for (auto const& quota : grants.quotas)
    if (int const cpus = policy::whole_cpus(quota.cpus); cpus < core_.machine().size())
      bounds.push_back({{quota.group.device, quota.group.inode}, cpus});
  CpuSet cpuset;
  for (int const cpu : grants.cpus)
    if (cpu < max_cpus) cpuset.add(cpu);
  bool const has_bounds_changed =
      bounds != member.bounds && (grants.odd.empty() || !bounds.empty());
  bool const has_cpuset_changed = cpuset != member.cpuset && !cpuset.empty();
  if (has_bounds_changed) member.bounds = bounds;
  if (has_cpuset_changed) member.cpuset = cpuset;
  // The member may be gone behind each of these.
  if (has_bounds_changed) happen(Bound{whose, std::move(bounds)});
  if (has_cpuset_changed) happen(Allowed{whose, cpuset});
}

}  // namespace nigh::coordinator
