// SPDX-License-Identifier: Apache-2.0
// Which regions hold others, which configuration is chosen for them, and on which cpus their
// threads are: the choice of SpreadChoice, on the cpus of a lease. A plan is kept until another one
// is due; each thread that begins such regions has its own.

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/published.hpp"
#include "openmp/nest_site.hpp"
#include "openmp/process.hpp"
#include "policy/spread/nest_plan.hpp"
#include "policy/spread/spread_space.hpp"
#include "settings/cpu_order_text.hpp"

namespace nigh::openmp {
constinit pthread_mutex_t nests_lock = PTHREAD_MUTEX_INITIALIZER;

namespace {

// From NIGH_OPENMP_SPREAD.
struct SpreadSetting {
  bool is_automatic = false;
  int spread = 0;  // 0: not set
};
constinit SpreadSetting wanted{};

// Open addressing; sites are only ever added, under the lock.
constexpr std::size_t most_sites = 256, longest_probe = 32;
constinit std::array<base::Published<NestSite>, most_sites> table{};
constinit sync::atomic<bool> is_loaded{false};

std::size_t slot(coordinator::RegionId id, std::size_t probe) noexcept {
  return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15U) >> 48U) % most_sites + probe;
}

NestSite* look_up(coordinator::RegionId id) noexcept {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    NestSite* const site = table[slot(id, probe) % most_sites].get();
    if (site == nullptr || site->id == id) return site;
  }
  return nullptr;
}

// (nested_plan.A) A thread that sees that the file is loaded sees the sites.
void load_once() noexcept {
  if (is_loaded.load(sync::acquire)) return;  // (nested_plan.A)
  NestsLocked const locked;
  if (is_loaded.load(sync::relaxed)) return;
  try {
    load_nests();
  } catch (...) {  // no memory: as if there were no file
  }
  is_loaded.store(true, sync::release);  // (nested_plan.A)
}

// Nothing is left to choose where the program has named all numbers.
bool is_open(NestSite const& site, int leaders) noexcept {
  return leaders == 0 || site.is_open_inside.load(sync::relaxed);
}

}  // namespace

constinit bool spreads = false;

char const* begin_nests() noexcept {
  char const* const text = getenv("NIGH_OPENMP_SPREAD");
  if (text == nullptr || *text == '\0') return nullptr;
  char* end = nullptr;
  long const number = strtol(text, &end, 10);
  if (strcmp(text, "auto") == 0)
    wanted.is_automatic = true;
  else if (strcmp(text, "all") == 0)
    wanted.spread = INT_MAX;
  else if (*text >= '0' && *text <= '9' && *end == '\0' && number > 0)
    wanted.spread = static_cast<int>(std::min<long>(number, INT_MAX));
  else
    return "NIGH_OPENMP_SPREAD is none of auto, all, a number of cpus";
  spreads = true;
  return nullptr;
}

void unlock_nests() noexcept {
  if (pthread_mutex_trylock(&nests_lock) != 0) {
    nests_lock = PTHREAD_MUTEX_INITIALIZER;
    spreads = false;
    return;
  }
  std::size_t at = 0;
  while (NestSite* const site = next_nest(at)) site->is_measuring = false;
  pthread_mutex_unlock(&nests_lock);
}

NestSite* find_nest(coordinator::RegionId id) noexcept {
  load_once();
  return look_up(id);
}

NestSite* add_nest(coordinator::RegionId id) {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    auto& entry = table[slot(id, probe) % most_sites];
    NestSite* const there = entry.get();
    if (there != nullptr && there->id != id) continue;
    if (there != nullptr) return there;
    auto* const site = new NestSite(id);
    entry.set(site);
    return site;
  }
  return nullptr;
}

NestSite* next_nest(std::size_t& at) noexcept {
  while (at < most_sites)
    if (NestSite* const site = table[at++].get()) return site;
  return nullptr;
}

void found_nest(coordinator::RegionId id, TeamDemand inside) noexcept {
  if (inside.threads <= 1) return;
  NestSite* site = find_nest(id);
  try {
    if (site == nullptr) {
      NestsLocked const locked;
      site = add_nest(id);
    }
  } catch (...) {
  }
  if (site != nullptr) seen_inside(*site, inside);
}

void seen_inside(NestSite& site, TeamDemand inside) noexcept {
  if (!inside.is_exact && !site.is_open_inside.load(sync::relaxed))
    site.is_open_inside.store(true, sync::relaxed);
  auto most = site.most_inside.load(sync::relaxed);
  while (inside.is_exact && inside.threads > most &&
         !site.most_inside.compare_exchange_weak(most, inside.threads, sync::relaxed)) {
  }
}

void kept_flat(NestSite& site) noexcept { site.is_kept_flat.store(true, sync::relaxed); }

std::uint32_t cpus_for(NestSite const& site, TeamDemand w) noexcept {
  auto const all = own_cpus().count;
  if (!w.is_exact) return std::min(w.threads, all);
  if (site.is_open_inside.load(sync::relaxed)) return all;
  std::uint64_t const most = site.most_inside.load(sync::relaxed);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(w.threads * most, all));
}

NestRun begin_run(NestSite& site, policy::OrderedWorkers const& ordered, int cpus, int leaders) {
  ++site.runs;
  site.last_cpus = cpus;
  site.last_leaders = leaders;
  NestRun run{{1, std::min(wanted.spread, cpus), cpus}, nullptr};
  if (wanted.is_automatic && is_open(site, leaders)) {
    auto const found = std::find_if(site.choices.begin(), site.choices.end(), [&](auto const& c) {
      return c->cpus == cpus && c->leaders == leaders;
    });
    NestChoice* chosen = found != site.choices.end() ? found->get() : nullptr;
    if (chosen == nullptr) {
      auto space = policy::spread_space(ordered, cpus, true, {}, 1);
      if (leaders > 0) space = policy::spread_space_of(leaders, std::move(space));
      policy::SpreadConfig const usual{1, 1, cpus};
      auto const* const earlier = earlier_run(site, cpus, leaders);
      bool const is_known = earlier != nullptr && policy::has(space, earlier->held);
      site.choices.push_back(std::make_unique<NestChoice>(
          NestChoice{cpus, leaders,
                     is_known ? policy::SpreadChoice(space, usual, *earlier)
                              : policy::SpreadChoice(space, usual)}));
      chosen = site.choices.back().get();
    }
    run = {chosen->choice.next(), site.is_measuring ? nullptr : chosen};
  } else if (wanted.is_automatic) {
    run.config.spread = cpus;  // each leader has as many as the program has named
  }
  site.last = run.config;
  return run;
}

namespace {

// The machine's cpus that are among these, in hardware order. Cpus unknown to it come last, beside
// the last one.
settings::CpuOrder cpu_order_of(coordinator::CpuSet left) {
  static constinit settings::CpuOrder* machine = nullptr;  // never destroyed
  static constinit bool is_read = false;
  if (!is_read) {
    char const* const text = getenv("NIGH_OPENMP_CPU_ORDER");
    if (auto read = settings::parse_cpu_order(text != nullptr ? text : ""))
      machine = new settings::CpuOrder(std::move(*read));
    is_read = true;
  }
  settings::CpuOrder found;
  for (std::size_t i = 0; machine != nullptr && i < machine->cpus.size(); ++i) {
    int const cpu = machine->cpus[i];
    if (!left.has(cpu)) continue;
    left.words[static_cast<std::size_t>(cpu) / 64] &= ~(std::uint64_t{1} << (cpu % 64));
    found.entries.push_back(machine->entries[i]);
    found.cpus.push_back(cpu);
  }
  policy::OrderedWorkers::Entry unknown{};
  if (!found.entries.empty()) unknown = found.entries.back();
  for (int cpu = 0; cpu < coordinator::max_cpus; ++cpu) {
    if (!left.has(cpu)) continue;
    ++unknown.in[policy::OrderedWorkers::core];
    found.entries.push_back(unknown);
    found.cpus.push_back(cpu);
  }
  return found;
}

coordinator::CpuSet set_of(GrantedTeam const& granted) {
  coordinator::CpuSet cpus;
  for (std::uint32_t i = 0; i < granted.size; ++i) cpus.add(granted.cpus[i]);
  return cpus;
}

constinit sync::atomic<std::uint32_t> versions{0};

}  // namespace

// The plan of one thread for one site.
struct PlanOfThread {
  PlanOfThread* next = nullptr;
  NestSite* site = nullptr;
  // The state that it was made for.
  std::uint32_t lease_version = 0, lease_size = 0;
  int cpus = 0, leaders = 0;
  policy::SpreadConfig config;
  bool is_made = false;

  NestedPlan plan;
  std::vector<std::uint16_t> order, firsts;
  std::vector<NestedPlan::Part> parts;
  std::optional<policy::OrderedWorkers> ordered;
  std::vector<int> cpu_of;         // [worker]
  NestChoice* measured = nullptr;  // while it runs

  void make(policy::NestPlan const& chosen) {
    order.clear();
    firsts.clear();
    parts.clear();
    for (int worker : chosen.workers)
      order.push_back(static_cast<std::uint16_t>(cpu_of[static_cast<std::size_t>(worker)]));
    for (auto const& part : chosen.parts) {
      parts.push_back({static_cast<std::uint32_t>(part.begin),
                       static_cast<std::uint32_t>(part.size),
                       static_cast<std::uint32_t>(part.threads)});
      firsts.push_back(order[static_cast<std::size_t>(part.begin)]);
    }
    plan.cpus = order.data();
    plan.cpu_count = static_cast<std::uint32_t>(order.size());
    plan.leader_cpus = firsts.data();
    plan.leaders = static_cast<std::uint32_t>(parts.size());
    plan.parts = parts.data();
    plan.version = 1 + versions.fetch_add(1, sync::relaxed);
  }
};

namespace {

PlanOfThread& planned(Thread& me, NestSite& site) {
  for (PlanOfThread* p = me.plans; p != nullptr; p = p->next)
    if (p->site == &site) return *p;
  auto* const added = new PlanOfThread;
  added->site = &site;
  added->plan.site = &site;
  added->next = me.plans;
  me.plans = added;
  return *added;
}

NestedPlan const& begin(NestSite& site, Thread& me, GrantedTeam const& granted, TeamDemand w) {
  PlanOfThread& p = planned(me, site);
  if (!p.ordered || p.lease_version != granted.version || p.lease_size != granted.size) {
    p.is_made = false;
    p.ordered.reset();
    auto mine = cpu_order_of(granted.size > 0 ? set_of(granted) : own_cpus().allowed);
    p.ordered.emplace(std::move(mine.entries));
    p.cpu_of = std::move(mine.cpus);
    p.lease_version = granted.version;
    p.lease_size = granted.size;
  }
  policy::OrderedWorkers const& ordered = *p.ordered;
  int const leaders = w.is_exact ? static_cast<int>(w.threads) : 0;
  int const cpus =
      w.is_exact ? ordered.size() : std::min(ordered.size(), static_cast<int>(w.threads));
  auto const run = begin_run(site, ordered, cpus, leaders);
  if (!p.is_made || p.cpus != cpus || p.leaders != leaders || p.config != run.config) {
    p.is_made = false;
    p.make(policy::nest_plan(ordered, run.config, leaders));
    p.cpus = cpus;
    p.leaders = leaders;
    p.config = run.config;
    p.is_made = true;
  }
  p.measured = run.measured;
  if (p.measured != nullptr) site.is_measuring = true;
  site.last_teams = p.plan.leaders;
  return p.plan;
}

}  // namespace

NestedPlan const* begin_plan(NestSite& site, Runtime const& runtime, Thread& me,
                             GrantedTeam const& granted, TeamDemand w) noexcept {
  try {
    NestsLocked const locked;
    NestedPlan const& plan = begin(site, me, granted, w);
    planned(me, site).plan.runtime = &runtime;
    return &plan;
  } catch (...) {
    return nullptr;
  }
}

void end_plan(Thread& me, NestedPlan const& plan, std::uint64_t duration_ns) noexcept {
  try {
    NestsLocked const locked;
    NestSite& site = *plan.site;
    PlanOfThread& p = planned(me, site);
    site.last_seconds = static_cast<double>(duration_ns) * 1e-9;
    if (p.measured == nullptr) return;
    site.is_measuring = false;
    std::exchange(p.measured, nullptr)->choice.took(site.last_seconds);
  } catch (...) {
  }
}

void drop_plans(Thread& me) noexcept {
  while (me.plans != nullptr) {
    PlanOfThread* const first = me.plans;
    me.plans = first->next;
    delete first;
  }
}

}  // namespace nigh::openmp
