// SPDX-License-Identifier: Apache-2.0
// Which regions hold others, and what is chosen for them.

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>

#include "openmp/nest_site.hpp"
#include "openmp/process.hpp"
#include "policy/nest_plan.hpp"
#include "policy/spread_space.hpp"

namespace nigh::openmp {

constinit pthread_mutex_t nests_lock = PTHREAD_MUTEX_INITIALIZER;

namespace {

// What NIGH_OPENMP_SPREAD says.
struct SpreadWish {
  bool is_automatic = false;
  int spread = 0;  // 0: nothing
};
constinit SpreadWish wanted{};

// Open addressing; sites are only ever added, under the lock.
// (A) Who sees a site sees all that it was made with.
constexpr std::size_t most_sites = 256, longest_probe = 32;
constinit std::array<sync::atomic<NestSite*>, most_sites> table{};
constinit sync::atomic<bool> is_loaded{false};

std::size_t slot(coordinator::RegionId id, std::size_t probe) noexcept {
  return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15U) >> 48U) % most_sites + probe;
}

NestSite* look_up(coordinator::RegionId id) noexcept {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    NestSite* const site = table[slot(id, probe) % most_sites].load(sync::acquire);  // (A)
    if (site == nullptr || site->id == id) return site;
  }
  return nullptr;
}

// (A) Who sees that it is loaded sees the sites.
void load_once() noexcept {
  if (is_loaded.load(sync::acquire)) return;  // (A)
  NestsLocked const locked;
  if (is_loaded.load(sync::relaxed)) return;
  try {
    load_nests();
  } catch (...) {  // no memory: as if there were no file
  }
  is_loaded.store(true, sync::release);  // (A)
}

// Nothing is left to choose where the program has named all numbers.
bool is_open(NestSite const& site, int masters) noexcept {
  return masters == 0 || site.is_open_inside.load(sync::relaxed);
}

}  // namespace

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
  return nullptr;
}

void unlock_nests() noexcept {
  if (pthread_mutex_trylock(&nests_lock) != 0) {
    nests_lock = PTHREAD_MUTEX_INITIALIZER;
    wanted = {};
    return;
  }
  std::size_t at = 0;
  while (NestSite* const site = next_nest(at)) site->is_measuring = false;
  pthread_mutex_unlock(&nests_lock);
}

bool is_spreading() noexcept { return wanted.is_automatic || wanted.spread > 0; }

NestSite* find_nest(coordinator::RegionId id) noexcept {
  load_once();
  return look_up(id);
}

NestSite* add_nest(coordinator::RegionId id) {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    auto& entry = table[slot(id, probe) % most_sites];
    NestSite* const there = entry.load(sync::relaxed);
    if (there != nullptr && there->id != id) continue;
    if (there != nullptr) return there;
    auto* const site = new NestSite(id);
    entry.store(site, sync::release);  // (A)
    return site;
  }
  return nullptr;
}

NestSite* next_nest(std::size_t& at) noexcept {
  while (at < most_sites)
    if (NestSite* const site = table[at++].load(sync::acquire)) return site;  // (A)
  return nullptr;
}

void found_nest(coordinator::RegionId id, Wish inside) noexcept {
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

void seen_inside(NestSite& site, Wish inside) noexcept {
  if (!inside.is_exact && !site.is_open_inside.load(sync::relaxed))
    site.is_open_inside.store(true, sync::relaxed);
  auto most = site.most_inside.load(sync::relaxed);
  while (inside.is_exact && inside.threads > most &&
         !site.most_inside.compare_exchange_weak(most, inside.threads, sync::relaxed)) {
  }
}

void kept_flat(NestSite& site) noexcept { site.is_kept_flat.store(true, sync::relaxed); }

std::uint32_t cpus_for(NestSite const& site, Wish w) noexcept {
  auto const all = process().cpus;
  if (!w.is_exact) return std::min(w.threads, all);
  if (site.is_open_inside.load(sync::relaxed)) return all;
  std::uint64_t const most = site.most_inside.load(sync::relaxed);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(w.threads * most, all));
}

NestRun begin_run(NestSite& site, policy::TeamSeats const& seats, int cpus, int masters) {
  ++site.runs;
  site.last_cpus = cpus;
  site.last_masters = masters;
  NestRun run{{1, std::min(wanted.spread, cpus), cpus}, nullptr};
  if (wanted.is_automatic && is_open(site, masters)) {
    auto const found = std::find_if(site.choices.begin(), site.choices.end(), [&](auto const& c) {
      return c->cpus == cpus && c->masters == masters;
    });
    NestChoice* chosen = found != site.choices.end() ? found->get() : nullptr;
    if (chosen == nullptr) {
      auto space = policy::spread_space(seats, cpus, true, {}, 1);
      if (masters > 0) space = policy::spread_space_of(masters, std::move(space));
      policy::SpreadConfig const usual{1, 1, cpus};
      auto const* const earlier = earlier_run(site, cpus, masters);
      bool const is_known = earlier != nullptr && policy::has(space, earlier->held);
      site.choices.push_back(std::make_unique<NestChoice>(
          NestChoice{cpus, masters,
                     is_known ? policy::SpreadChoice(space, usual, *earlier)
                              : policy::SpreadChoice(space, usual)}));
      chosen = site.choices.back().get();
    }
    run = {chosen->choice.next(), site.is_measuring ? nullptr : chosen};
  } else if (wanted.is_automatic) {
    run.config.spread = cpus;  // each has as many as the program has named
  }
  site.last = run.config;
  return run;
}

}  // namespace nigh::openmp
