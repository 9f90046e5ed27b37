// SPDX-License-Identifier: Apache-2.0
// Where the threads of nests are: what SpreadChoice says, on the cpus of a lease. A plan is kept
// until it is to be another; each thread that begins nests has its own.

#include <stdlib.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "openmp/nest_site.hpp"
#include "openmp/process.hpp"
#include "policy/nest_plan.hpp"
#include "policy/seat_text.hpp"

namespace nigh::openmp {
namespace {

// Those of the machine that are among these cpus, in hardware order. What it does not know comes
// last, beside the last one.
policy::CpuSeats seats_of(coordinator::CpuSet left) {
  static constinit policy::CpuSeats* machine = nullptr;  // never destroyed
  static constinit bool is_read = false;
  if (!is_read) {
    char const* const text = getenv("NIGH_OPENMP_SEATS");
    if (auto read = policy::parse_seats(text != nullptr ? text : ""))
      machine = new policy::CpuSeats(std::move(*read));
    is_read = true;
  }
  policy::CpuSeats found;
  for (std::size_t i = 0; machine != nullptr && i < machine->cpus.size(); ++i) {
    int const cpu = machine->cpus[i];
    if (!left.has(cpu)) continue;
    left.words[static_cast<std::size_t>(cpu) / 64] &= ~(std::uint64_t{1} << (cpu % 64));
    found.seats.push_back(machine->seats[i]);
    found.cpus.push_back(cpu);
  }
  policy::TeamSeats::Seat unknown{};
  if (!found.seats.empty()) unknown = found.seats.back();
  for (int cpu = 0; cpu < coordinator::max_cpus; ++cpu) {
    if (!left.has(cpu)) continue;
    ++unknown.in[policy::TeamSeats::core];
    found.seats.push_back(unknown);
    found.cpus.push_back(cpu);
  }
  return found;
}

coordinator::CpuSet set_of(Lease const& lease) {
  coordinator::CpuSet cpus;
  for (std::uint32_t i = 0; i < lease.size; ++i) cpus.add(lease.cpus[i]);
  return cpus;
}

constinit sync::atomic<std::uint32_t> versions{0};

}  // namespace

// Of one thread and one site.
struct PlannedNest {
  PlannedNest* next = nullptr;
  NestSite* site = nullptr;
  // For which it was made.
  std::uint32_t lease_version = 0, lease_size = 0;
  int cpus = 0, masters = 0;
  policy::SpreadConfig config;
  bool is_made = false;

  Nest nest;
  std::vector<std::uint16_t> order, firsts;
  std::vector<Nest::Part> parts;
  std::optional<policy::TeamSeats> seats;
  std::vector<int> cpu_of;         // [seat]
  NestChoice* measured = nullptr;  // while it runs

  void make(policy::NestPlan const& plan) {
    order.clear();
    firsts.clear();
    parts.clear();
    for (int seat : plan.seats)
      order.push_back(static_cast<std::uint16_t>(cpu_of[static_cast<std::size_t>(seat)]));
    for (auto const& part : plan.parts) {
      parts.push_back({static_cast<std::uint32_t>(part.begin),
                       static_cast<std::uint32_t>(part.size),
                       static_cast<std::uint32_t>(part.threads)});
      firsts.push_back(order[static_cast<std::size_t>(part.begin)]);
    }
    nest.cpus = order.data();
    nest.cpu_count = static_cast<std::uint32_t>(order.size());
    nest.master_cpus = firsts.data();
    nest.masters = static_cast<std::uint32_t>(parts.size());
    nest.parts = parts.data();
    nest.version = 1 + versions.fetch_add(1, sync::relaxed);
  }
};

namespace {

PlannedNest& planned(Thread& me, NestSite& site) {
  for (PlannedNest* p = me.nests; p != nullptr; p = p->next)
    if (p->site == &site) return *p;
  auto* const added = new PlannedNest;
  added->site = &site;
  added->nest.site = &site;
  added->next = me.nests;
  me.nests = added;
  return *added;
}

Nest const& begin(NestSite& site, Thread& me, Lease const& lease, Wish w) {
  PlannedNest& p = planned(me, site);
  if (!p.seats || p.lease_version != lease.version || p.lease_size != lease.size) {
    p.is_made = false;
    p.seats.reset();
    auto mine = seats_of(lease.size > 0 ? set_of(lease) : process().allowed);
    p.seats.emplace(std::move(mine.seats));
    p.cpu_of = std::move(mine.cpus);
    p.lease_version = lease.version;
    p.lease_size = lease.size;
  }
  policy::TeamSeats const& seats = *p.seats;
  int const masters = w.is_exact ? static_cast<int>(w.threads) : 0;
  int const cpus = w.is_exact ? seats.size() : std::min(seats.size(), static_cast<int>(w.threads));
  auto const run = begin_run(site, seats, cpus, masters);
  if (!p.is_made || p.cpus != cpus || p.masters != masters || p.config != run.config) {
    p.is_made = false;
    p.make(policy::nest_plan(seats, run.config, masters));
    p.cpus = cpus;
    p.masters = masters;
    p.config = run.config;
    p.is_made = true;
  }
  p.measured = run.measured;
  if (p.measured != nullptr) site.is_measuring = true;
  site.last_teams = p.nest.masters;
  return p.nest;
}

}  // namespace

Nest const* begin_nest(NestSite& site, Runtime const& runtime, Thread& me, Lease const& lease,
                       Wish w) noexcept {
  try {
    NestsLocked const locked;
    Nest const& nest = begin(site, me, lease, w);
    planned(me, site).nest.runtime = &runtime;
    return &nest;
  } catch (...) {
    return nullptr;
  }
}

void end_nest(Thread& me, Nest const& nest, std::uint64_t duration_ns) noexcept {
  try {
    NestsLocked const locked;
    NestSite& site = *nest.site;
    PlannedNest& p = planned(me, site);
    site.last_seconds = static_cast<double>(duration_ns) * 1e-9;
    if (p.measured == nullptr) return;
    site.is_measuring = false;
    std::exchange(p.measured, nullptr)->choice.took(site.last_seconds);
  } catch (...) {
  }
}

void drop_nests(Thread& me) noexcept {
  while (me.nests != nullptr) {
    PlannedNest* const first = me.nests;
    me.nests = first->next;
    delete first;
  }
}

}  // namespace nigh::openmp
