// SPDX-License-Identifier: Apache-2.0
#include "openmp/stay.hpp"

#include <time.h>

#include "openmp/levels.hpp"
#include "openmp/nests.hpp"
#include "openmp/pool_sizes.hpp"
#include "openmp/process.hpp"
#include "openmp/region_times.hpp"
#include "openmp/study.hpp"
#include "openmp/waiting.hpp"

namespace nigh::openmp {
namespace {

std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}

Limits limits(Region const& region, Clause clause) {
  Runtime const& runtime = *region.runtime;
  Thread const& me = this_thread;
  auto const number = [](int n) { return n < 1 ? 1U : static_cast<std::uint32_t>(n); };
  Said const said{runtime.dynamic() != 0, me.fixes_teams || process().fixes_teams, me.names_number};
  return {clause, number(runtime.max_threads()), number(runtime.thread_limit()), said, region.rule};
}

Wish wish_in_nest(Region const& region, Clause clause) {
  auto const adjust = when_chosen(region.adjust);
  return wish(limits(region, heeded(clause, adjust)), adjust);
}

// A thread that runs elsewhere than the process may was bound by the program, which knows better.
bool is_bound(Thread const& me) {
  cpu_set_t now;
  // The answer is the kernel's, for we did not place it.
  return me.place == anywhere && sched_getaffinity(0, sizeof now, &now) == 0 &&
         !CPU_EQUAL(&now, &own_cpus());
}

// What follows a region may last, and the cpu soon be somebody else's, while others are free. After
// a region this long it does not matter that moving takes two microseconds.
constexpr std::uint64_t long_ns = 1'000'000;

// Looking at the clock twice takes as long as all else: of regions that are over in no time, one in
// so many is timed. A prime, lest of regions that take turns always the same one is.
bool is_worth_timing(Thread& me) {
  constexpr std::uint64_t no_time_ns = 20'000;
  constexpr std::uint32_t one_in = 17;
  return me.last_ns >= no_time_ns || ++me.regions % one_in == 1;
}

// Of all that are ever known, no other place is the same.
Place place_of_part(Nest const& nest, std::uint32_t part) {
  return Place{3} << 62U | Place{part} << 32U | nest.version;
}

}  // namespace

void begin_part(Thread& me, Team const& team, std::uint32_t number) noexcept {
  Nest const& nest = *team.master->nest;
  me.member = number;
  auto const threads = static_cast<int>(nest.parts[std::min(number, nest.masters - 1)].threads);
  Runtime const& runtime = *nest.runtime;
  if (runtime.set_num_threads != nullptr && runtime.max_threads() > threads)
    runtime.set_num_threads(threads);
}

Stay::Stay(Region const& region, Clause clause, Team& team) noexcept
    : me_(this_thread), team_(team), threads_(clause.threads) {
  if (!process().acts) return;
  if (me_.is_inside || me_.is_worker)
    begin_nested(region, clause);
  else if (clause.threads != 1)  // one thread, now and here: no region
    begin_outermost(region, clause);
}

// Threads of a nested team may use all cpus of the one around it, or their part of them. Its master
// stays where it is.
void Stay::begin_nested(Region const& region, Clause clause) noexcept {
  around_ = me_.team;
  if (around_ != nullptr) team_ = *around_;
  team_.is_shared = true;
  team_.is_nest = false;
  team_.master = &me_;
  team_.level = around_ != nullptr && around_->level == 0 ? 1 : 2;
  me_.team = &team_;
  if (team_.level == 1 && clause.threads != 1) {
    Thread const& outermost = *around_->master;
    if (around_->is_nest) return join(region, clause, *outermost.nest);
    if (is_spreading()) found_nest(outermost.region, wish_in_nest(region, clause));
  }
  if (me_.nests_serially && threads_ == 0 && region.rule != TeamRule::whole) threads_ = 1;
}

void Stay::join(Region const& region, Clause clause, Nest const& nest) noexcept {
  Nest::Part const& part = nest.parts[std::min(me_.member, nest.masters - 1)];
  Wish const w = wish_in_nest(region, clause);
  seen_inside(*nest.site, w);
  team_threads_ = team_size(w, part.threads);
  if (!w.is_exact) threads_ = team_threads_;
  team_.cpus = nest.cpus + part.begin;
  team_.size = part.size;
  team_.all = place_of_part(nest, part.begin);
  team_.is_shared = team_threads_ > part.size || nest.masters > nest.cpu_count;
  me_.forming = &team_;
  me_.formed = 0;
}

void Stay::begin_outermost(Region const& region, Clause clause) noexcept {
  adapt_pools();
  is_outermost_ = true;
  team_.master = &me_;
  me_.region = region.id;
  Lease const* const studied = study_team();
  bool const is_new = studied != nullptr ? me_.place == anywhere : me_.leases == nullptr;
  if (is_new && !me_.is_left_alone)
    me_.is_left_alone = is_bound(me_) || (studied == nullptr && !give_leases(me_));
  if (!me_.is_left_alone) {
    if (studied != nullptr)
      study(region, clause, *studied);
    else if (!is_spreading() || !nest(region, clause))
      lease(region, clause);
  }
  me_.team = &team_;
  me_.is_inside = true;
}

void Stay::lease(Region const& region, Clause clause) noexcept {
  Wish const w = wish(limits(region, clause), region.adjust);
  if (w.threads == 1) return;
  has_lease_ = true;
  Lease const lease = enter(*me_.leases, region.id, demand(w, process().cpus));
  if (process().tells) count_region(lease);
  adapt_waiting(me_, *region.runtime, lease, team_size(w, lease.size));
  if (lease.size == 0) return;
  place(region, w, lease);
  if (lease.is_to_be_timed || is_worth_timing(me_)) began_ns_ = now_ns();
}

// False: its threads begin no regions, or may not.
bool Stay::nest(Region const& region, Clause clause) noexcept {
  NestSite* const site = find_nest(region.id);
  if (site == nullptr) return false;
  Runtime const& runtime = *region.runtime;
  if (runtime.max_active_levels() <= 1 && levels_are_said()) {
    kept_flat(*site);
    return false;
  }
  Wish const w = wish_in_nest(region, clause);
  if (w.threads == 1) return false;
  has_lease_ = true;
  auto const cpus = cpus_for(*site, w);
  Lease const lease = enter(*me_.leases, region.id, {cpus, cpus});
  if (process().tells) count_region(lease);
  me_.nest = begin_nest(*site, runtime, me_, lease, w);
  if (me_.nest == nullptr) return true;
  Nest const& nest = *me_.nest;
  bool const is_crowded = nest.masters > nest.cpu_count;
  team_.cpus = is_crowded ? nest.cpus : nest.master_cpus;
  team_.size = is_crowded ? nest.cpu_count : nest.masters;
  team_.all = place_of_part(nest, nest.cpu_count);
  team_.is_shared = is_crowded;
  team_.is_nest = true;
  if (!w.is_exact) threads_ = nest.masters;
  levels_before_ = lift_levels(runtime);
  if (levels_before_ >= 0) lifted_ = &runtime;
  began_ns_ = now_ns();
  return true;
}

void Stay::study(Region const& region, Clause clause, Lease const& team) noexcept {
  Wish const w = wish(limits(region, clause), when_chosen(region.adjust));
  if (w.threads > 1) place(region, w, team);
  if (process().tells) count_region(team);
  studied_ = &region;
  began_ns_ = now_ns();
}

void Stay::place(Region const& region, Wish w, Lease const& lease) noexcept {
  team_threads_ = team_size(w, lease.size);
  if (!lease.floats) {  // else they are anywhere, as without a lease
    team_.cpus = lease.cpus;
    team_.size = lease.size;
    team_.all =
        Place{1} << 63U | Place{me_.number} << 43U | Place{lease.size} << 32U | lease.version;
    team_.is_shared = team_threads_ > lease.size;
  }
  if (!w.is_exact) threads_ = team_threads_;
  me_.nests_serially = team_threads_ == 1 && region.runtime->max_active_levels() <= 1;
}

Stay::~Stay() {
  if (!is_outermost_) {
    if (team_.master == &me_) me_.team = around_;
    me_.forming = nullptr;
    return;
  }
  me_.is_inside = false;
  me_.team = nullptr;
  me_.nests_serially = false;
  if (lifted_ != nullptr) lifted_->set_max_active_levels(levels_before_);
  if (studied_ != nullptr) {
    auto const duration_ns = now_ns() - began_ns_;
    add_region_time(studied_->id, studied_->code, team_threads_, duration_ns);
    if (duration_ns >= long_ns) set_free(me_);
    return;
  }
  if (!has_lease_ || me_.leases == nullptr) return;
  std::uint64_t duration_ns = 0;
  if (began_ns_ != 0) {
    auto const end_ns = now_ns();
    me_.last_ns = duration_ns = end_ns - began_ns_;
    watch_preemptions(me_, end_ns);
  }
  if (me_.nest != nullptr) end_nest(me_, *me_.nest, duration_ns);
  me_.nest = nullptr;
  leave(*me_.leases, duration_ns);
  if (duration_ns >= long_ns) set_free(me_);
}

}  // namespace nigh::openmp
