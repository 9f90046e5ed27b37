// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/watches.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "policy/cpus/thread_count.hpp"

namespace nigh::coordinator {

std::optional<Energy> EnergyWatch::look(bool counts) {
  Energy energy;
  for (auto const& package : meter_.look()) {
    energy.packages.push_back({{}, counts ? package.used_uj : 0});
    for (int const cpu : package.cpus)
      if (cpu < max_cpus) energy.packages.back().cpus.add(cpu);
  }
  bool const was_measured = std::exchange(is_measured_, !energy.packages.empty());
  if (!was_measured && !is_measured_) return std::nullopt;
  return energy;
}

std::vector<Event> CgroupWatch::come(Connection connection, Peer const& peer,
                                     policy::CoreMap const& machine, Time now) {
  std::vector<Event> changes;
  User& user = users_[peer.user];
  Program& program = user.programs[connection] = {.peer = peer};
  ++programs_;
  if (!user.newcomers.may_take(now, newcomers)) {
    user.urgent.insert(connection);
    return changes;
  }
  auto const began = base::now_us();
  platform::CgroupReader reader(root_);
  read(connection, program, reader, machine, changes);
  user.newcomers.take(now, newcomers, base::now_us() - began);
  return changes;
}

void CgroupWatch::leave(Connection connection, unsigned user_id) {
  auto const found = users_.find(user_id);
  if (found == users_.end()) return;
  User& user = found->second;
  programs_ -= user.programs.erase(connection);
  user.urgent.erase(connection);
}

void CgroupWatch::begin_round(std::vector<std::pair<std::uint32_t, Connection>> const& holders,
                              Time now) {
  // A user without programs is remembered as long as its newcomers count.
  std::erase_if(users_, [now](auto const& entry) {
    return entry.second.programs.empty() && entry.second.newcomers.is_full(now, newcomers);
  });
  for (auto& [id, user] : users_)
    std::erase_if(user.urgent, [&](Connection c) { return user.programs.at(c).round != 0; });
  for (auto const& [user, holder] : holders)
    if (auto const found = users_.find(user);
        found != users_.end() && found->second.programs.contains(holder))
      found->second.urgent.insert(holder);
  ++round_;
  left_ = std::min(most_in_a_round, programs_);
  due_.reset();
  if (left_ > 0) due_ = now;
}

std::vector<Event> CgroupWatch::look(policy::CoreMap const& machine, Time now) {
  std::vector<Event> changes;
  platform::CgroupReader reader(root_);
  auto const began = base::now_us();
  left_ = std::min(left_, programs_);
  for (std::size_t users_in_vain = 0; left_ > 0 && users_in_vain < users_.size();) {
    auto next = users_.upper_bound(last_user_);
    if (next == users_.end()) next = users_.begin();
    auto& [id, user] = *next;
    last_user_ = id;
    auto const whose = next_of(user);
    if (!whose) {
      ++users_in_vain;
      continue;
    }
    users_in_vain = 0;
    Program& program = user.programs.at(*whose);
    program.round = round_;
    read(*whose, program, reader, machine, changes);
    --left_;
    if (base::now_us() - began >= look_us_) break;
  }
  due_.reset();
  if (left_ > 0) due_ = now + between_looks_us;
  return changes;
}

// Of its programs that were not read in this round.
std::optional<Connection> CgroupWatch::next_of(User& user) const {
  bool const is_for_urgent = std::exchange(user.is_for_urgent, !user.is_for_urgent);
  if (is_for_urgent && !user.urgent.empty()) {
    auto next = user.urgent.upper_bound(user.last_urgent);
    if (next == user.urgent.end()) next = user.urgent.begin();
    auto const whose = user.last_urgent = user.urgent.extract(next).value();
    if (user.programs.at(whose).round != round_) return whose;
  }
  auto next = user.programs.upper_bound(user.last);
  for (std::size_t n = user.programs.size(); n > 0; --n, ++next) {
    if (next == user.programs.end()) next = user.programs.begin();
    user.last = next->first;
    if (next->second.round != round_) return next->first;
  }
  return std::nullopt;
}

// Where the system says nothing at the moment, the last knowledge stays.
void CgroupWatch::read(Connection whose, Program& program, platform::CgroupReader& reader,
                       policy::CoreMap const& machine, std::vector<Event>& changes) {
  auto const found = program.peer.process.look([&] { return reader.grants_to(program.peer.pid); });
  if (!found) return;
  auto const& grants = *found;
  std::vector<QuotaBound> bounds;
  for (auto const& quota : grants.quotas)
    if (int const cpus = policy::whole_cpus(quota.cpus); cpus < machine.size())
      bounds.push_back({{quota.group.device, quota.group.inode}, cpus});
  CpuSet cpuset;
  for (int const cpu : grants.cpus)
    if (cpu < max_cpus) cpuset.add(cpu);
  if (bounds != program.bounds && (grants.odd.empty() || !bounds.empty())) {
    program.bounds = bounds;
    changes.emplace_back(Bound{whose, std::move(bounds)});
  }
  if (cpuset != program.cpuset && !cpuset.empty()) {
    program.cpuset = cpuset;
    changes.emplace_back(Allowed{whose, cpuset});
  }
}

}  // namespace nigh::coordinator
