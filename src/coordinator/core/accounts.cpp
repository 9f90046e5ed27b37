// SPDX-License-Identifier: Apache-2.0
// The accounts of programs: cpus, waiting, energy. For people; nothing is decided by them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

using policy::PositionSet;

// The cpu time of a lease since the last Energy event, by package.
void Coordinator::count_time(Lease const& lease) {
  if (packages_.empty()) return;
  auto& owner = program(lease.owner);
  owner.cpu_time.resize(packages_.size());
  auto const time = now_ - std::max(lease.since, energy_since_);
  for (std::size_t k = 0; k < packages_.size(); ++k) {
    auto both = lease.cpus;
    both &= packages_[k];
    owner.cpu_time[k] += both.count() * time;
  }
}

// A program's part of a package's energy is the part of the package's cpu time that it held; energy
// of cpus that no program held belongs to none. The first event, and one with other packages, only
// says which packages there are.
void Coordinator::happen(Energy const& e) {
  std::vector<PositionSet> packages;
  for (auto const& package : e.packages) {
    PositionSet cpus(machine_.size());
    for (int p = 0; p < machine_.size(); ++p)
      if (package.cpus.has(machine_.cpu(p))) cpus.add(p);
    packages.push_back(std::move(cpus));
  }
  if (packages == packages_) {
    for (auto const& [id, lease] : leases_) count_time(lease);
    auto const time = now_ - energy_since_;
    for (std::size_t k = 0; k < packages_.size(); ++k) {
      auto const used = e.packages[k].used_uj;
      energy_uj_ += used;
      auto const all = static_cast<double>(time) * e.packages[k].cpus.count();
      for (auto& [connection, program] : programs_)
        if (k < program.cpu_time.size() && all > 0)
          program.used_uj +=
              static_cast<double>(used) * static_cast<double>(program.cpu_time[k]) / all;
    }
  }
  for (auto& [connection, program] : programs_) program.cpu_time.clear();
  packages_ = std::move(packages);
  energy_since_ = now_;
}

void Coordinator::take(Connection from, Query const& m) { send(from, status(m.program)); }

std::vector<std::pair<std::uint32_t, Connection>> Coordinator::holders() const {
  std::vector<std::pair<std::uint32_t, Connection>> holders;
  for (auto const& [id, lease] : leases_)
    holders.emplace_back(lease.program->user->id, lease.owner);
  return holders;
}

// Each lease is looked at once, however many programs there are.
std::vector<Status> Coordinator::statuses() const {
  std::vector<Status> all;
  all.reserve(programs_.size() + 1);
  std::unordered_map<Connection, LeasesOfOne> leases;
  for (auto const& [id, lease] : leases_) leases[lease.owner].push_back(&lease);
  auto const host = status_of_host();
  for (auto const& [number, connection] : by_number_) {
    all.push_back(host);
    auto const its = leases.find(connection);
    describe(connection, its == leases.end() ? LeasesOfOne{} : its->second, all.back());
  }
  all.push_back(host);
  return all;
}

// The status of the host, and of the first program whose number is at least this.
Status Coordinator::status(std::uint32_t number) const {
  auto s = status_of_host();
  auto const next = by_number_.lower_bound(number);
  if (next == by_number_.end()) return s;
  LeasesOfOne its;
  for (auto const& [id, lease] : leases_)
    if (lease.owner == next->second) its.push_back(&lease);
  describe(next->second, its, s);
  return s;
}

Status Coordinator::status_of_host() const {
  Status s;
  s.cpus = static_cast<std::uint32_t>(machine_.size());
  s.free = static_cast<std::uint32_t>(free_.count());
  s.programs = static_cast<std::uint32_t>(programs_.size());
  s.waiting = static_cast<std::uint32_t>(waiting());
  s.up_us = static_cast<std::uint64_t>(now_ - started_);
  s.grants = last_lease_;
  s.revocations = revocations_;
  s.refusals = refusals_;
  s.unplaced = unplaced_;
  s.measures_energy = packages_.empty() ? 0 : 1;
  s.energy_uj = energy_uj_;
  for (int p = 0; p < machine_.size(); ++p)
    if (busy_.has(p)) s.external_load.add(machine_.cpu(p));
  s.has_unseen_load = has_unseen_load_ ? 1 : 0;
  return s;
}

void Coordinator::add_cpus(Lease const& lease, CpuSet& to) const {
  for (int p = lease.cpus.next(0, machine_.size()); p < machine_.size();
       p = lease.cpus.next(p + 1, machine_.size()))
    to.add(machine_.cpu(p));
}

CpuSet Coordinator::held_by(Connection connection) const {
  CpuSet held;
  for (auto const& [id, lease] : leases_)
    if (lease.owner == connection) add_cpus(lease, held);
  return held;
}

void Coordinator::describe(Connection whom, LeasesOfOne const& leases, Status& in) const {
  Program const& about = program(whom);
  in.program = about.number;
  in.pid = about.pid;
  in.user = about.user->id;
  in.started = about.started;
  in.name = about.name;
  in.held = static_cast<std::uint32_t>(about.held);
  in.granted = about.granted;
  in.ran_unplaced = about.unplaced;
  in.used_uj = static_cast<std::uint64_t>(about.used_uj);
  Time waited = about.waited;
  auto const add = [&](Waiting const& w) {
    if (w.program != &about) return;
    if (in.requests++ == 0) {
      in.waiting_us = static_cast<std::uint64_t>(now_ - w.since);
      in.region = w.region;
      in.wanted = static_cast<std::uint32_t>(w.demand.optimal);
    }
    waited += now_ - w.since;
  };
  if (about.stands == Stands::in_line) std::for_each(queue_.begin(), queue_.end(), add);
  if (about.stands == Stands::outside) std::for_each(outside_.begin(), outside_.end(), add);
  std::for_each(about.behind.begin(), about.behind.end(), add);
  in.waited_us = static_cast<std::uint64_t>(waited);
  int threads = 0;
  for (auto const* const lease : leases) {
    in.region = lease->region;
    in.wanted = lease->wanted;
    threads = lease->size;
    add_cpus(*lease, in.holds);
  }
  in.learnt = about.regions.known_demand(in.region);
  if (threads > 0) {
    // Regions are what a program says: no number is one, too.
    auto const found = about.regions.efficiency(in.region, threads).value_or(0);
    if (found > 0)
      in.efficiency = static_cast<std::uint32_t>(std::lround(1000 * std::min(1.0, found)));
  }
}

}  // namespace nigh::coordinator
