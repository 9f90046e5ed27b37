// SPDX-License-Identifier: Apache-2.0
#include "openmp/region_scope.hpp"

#include <errno.h>
#include <time.h>

#include <algorithm>
#include <new>
#include <utility>

#include "openmp/kept_errno.hpp"
#include "openmp/nested_plan.hpp"
#include "openmp/pools.hpp"
#include "openmp/process.hpp"
#include "openmp/program_settings.hpp"
#include "openmp/recycler.hpp"
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

TeamSettings settings(Runtime const& runtime, Clause clause, Thread const& me) {
  return {clause,         runtime.max_threads(), runtime.thread_limit(), runtime.dynamic(),
          me.fixes_teams, me.names_number};
}

Limits limits(TeamSettings const& now, TeamRule rule) {
  auto const number = [](int n) { return n < 1 ? 1U : static_cast<std::uint32_t>(n); };
  Said const said{now.dynamic != 0, now.fixes_teams || process().fixes_teams, now.names_number};
  return {now.clause, number(now.max_threads), number(now.thread_limit), said, rule};
}

Limits limits(Region const& region, Clause clause) {
  return limits(settings(*region.runtime, clause, this_thread), region.rule);
}

// For a region that holds others, or is held by one, where a spread is wanted.
TeamDemand demand_in_nest(Region const& region, Clause clause) {
  auto const adjust = when_chosen(region.adjust);
  return team_demand(limits(region, heeded(clause, adjust)), adjust);
}

// Without nigh: a clause holds, whatever the user has said about it.
std::uint32_t asked_threads(Region const& region, Clause clause) {
  return team_demand(limits(region, clause), Adjust::none).threads;
}

// The code after a region may run for long, and its cpu may soon be another program's, while others
// are free. After a region this long it does not matter that moving takes two microseconds.
constexpr std::uint64_t long_ns = 1'000'000;

// Reading the clock twice takes as long as all else: of very short regions, one in so many is
// timed. The number is a prime, so that with regions in turn, it is not always the same one.
bool is_worth_timing(Thread& me) {
  constexpr std::uint64_t no_time_ns = 20'000;
  constexpr std::uint32_t one_in = 17;
  if (me.last_ns >= no_time_ns) return true;
  if (me.untimed > 0) return --me.untimed, false;
  me.untimed = one_in - 1;
  return true;
}

Pinning pinning_of_part(NestedPlan const& plan, std::uint32_t part) {
  return Pinning{3} << 62U | Pinning{part} << 32U | plan.version;
}

NestedPlan::Part const& part_of(NestedPlan const& plan, std::uint32_t member) {
  return plan.parts[std::min(member, plan.leaders - 1)];
}

// In the child of a fork inside a region: libomp begins afresh, and the child's regions are its
// own. For libgomp the thread is in its parent's region still; it makes teams of one there, unless
// nested parallelism is on.
bool is_still_inside(Thread const& me, Runtime const& runtime) {
  return me.nests_serially ||
         (runtime.active_level != nullptr && runtime.active_level() >= runtime.max_active_levels());
}

class PassedThrough final : public RegionStrategy {
 public:
  PassedThrough(Thread& me, Team& team, Clause clause) noexcept
      : RegionStrategy(me, team, clause) {}
  void begin(Region const&, Clause) noexcept override {}
  void end() noexcept override {}
};

// The threads of a nested team may use all cpus of the team around it, or their part of them. Its
// leader stays where it is.
class Nested final : public RegionStrategy {
 public:
  Nested(Thread& me, Team& team, Clause clause) noexcept : RegionStrategy(me, team, clause) {}

  void begin(Region const& region, Clause clause) noexcept override {
    around_ = me_.team;
    if (around_ != nullptr)
      team_ = *around_;
    else
      unpin(me_);  // of a league: the cpus of the worker's last region may be others' by now
    team_.is_shared = true;
    team_.has_plan = false;
    team_.leader = &me_;
    team_.level = around_ != nullptr && around_->level == 0 ? 1 : 2;
    me_.team = &team_;
    if (team_.level == 1 && clause.threads != 1) {
      Thread const& outermost = *around_->leader;
      if (around_->has_plan) return take_part(region, clause, *outermost.plan);
      if (is_spreading()) found_nest(outermost.region, demand_in_nest(region, clause));
    }
    if (me_.nests_serially && threads_ == 0 && region.rule != TeamRule::whole) threads_ = 1;
  }

  void end() noexcept override {
    if (me_.team == &team_) me_.team = around_;  // not in the child of a fork inside the region
    me_.forming = nullptr;
  }

 private:
  void take_part(Region const& region, Clause clause, NestedPlan const& plan) noexcept {
    NestedPlan::Part const& part = part_of(plan, me_.member);
    TeamDemand const wanted = demand_in_nest(region, clause);
    seen_inside(*plan.site, wanted);
    auto const threads = team_size(wanted, part.threads);
    if (!wanted.is_exact) threads_ = threads;
    team_.cpus = plan.cpus + part.begin;
    team_.size = part.size;
    team_.all = pinning_of_part(plan, part.begin);
    team_.is_shared = threads > part.size || plan.leaders > plan.cpu_count;
    me_.forming = &team_;
    me_.formed = 0;
  }

  Team const* around_ = nullptr;  // of the region around this one
};

// An outermost region's team on these cpus.
class OnGrantedCpus : public RegionStrategy {
 protected:
  using RegionStrategy::RegionStrategy;
  ~OnGrantedCpus() = default;

  void place(Region const& region, TeamDemand wanted, GrantedTeam const& granted) noexcept {
    team_threads_ = team_size(wanted, granted.size);
    if (!granted.floats) give_cpus(team_, me_, granted, team_threads_);
    if (!wanted.is_exact) threads_ = team_threads_;
    adapt_pool(me_, *region.runtime, wanted.threads, team_threads_);
    note_nesting(*region.runtime, team_threads_);
  }

  void note_nesting(Runtime const& runtime, std::uint32_t threads) noexcept {
    me_.nests_serially = threads == 1 && runtime.max_active_levels() <= 1;
  }

  std::uint32_t team_threads_ = 1;
  std::uint64_t began_ns_ = 0;  // 0: not timed
};

class Study final : public OnGrantedCpus {
 public:
  Study(Thread& me, Team& team, Clause clause, GrantedTeam const& cpus) noexcept
      : OnGrantedCpus(me, team, clause), cpus_(cpus) {}

  void begin(Region const& region, Clause clause) noexcept override {
    region_ = region.id;
    code_ = region.code;
    TeamDemand const wanted = team_demand(limits(region, clause), when_chosen(region.adjust));
    if (wanted.threads > 1) place(region, wanted, cpus_);
    if (process().tells) count_region(cpus_);
    began_ns_ = now_ns();
  }

  void end() noexcept override {
    KeptErrno const kept;
    auto const duration_ns = now_ns() - began_ns_;
    add_region_time(region_, code_, team_threads_, duration_ns);
    if (duration_ns >= long_ns) unpin(me_);
  }

 private:
  GrantedTeam const& cpus_;
  coordinator::RegionId region_ = 0;
  void const* code_ = nullptr;
};

// In a study. It stays as it is, and regions that it begins are outermost ones, too.
class OfOneThread final : public RegionStrategy {
 public:
  OfOneThread(Thread& me, Team& team, Clause clause) noexcept : RegionStrategy(me, team, clause) {}

  void begin(Region const& region, Clause) noexcept override {
    region_ = region.id;
    code_ = region.code;
    began_ns_ = now_ns();
  }
  void end() noexcept override {
    KeptErrno const kept;
    add_region_time(region_, code_, asked_for_one, now_ns() - began_ns_);
  }

 private:
  coordinator::RegionId region_ = 0;
  void const* code_ = nullptr;
  std::uint64_t began_ns_ = 0;
};

class Leased final : public OnGrantedCpus {
 public:
  Leased(Thread& me, Team& team, Clause clause) noexcept : OnGrantedCpus(me, team, clause) {}

  void begin(Region const& region, Clause clause) noexcept override {
    if (!is_spreading() || !begin_with_plan(region, clause)) begin_flat(region, clause);
  }

  // The lease has been entered again.
  void begin_as(Decision const& last) noexcept {
    has_lease_ = has_own_lease_ = true;
    team_ = last.team;
    threads_ = last.threads;
    if (process().tells)
      count_region({.size = last.lease.size(), .fallback = coordinator::FallbackReason::none});
    note_nesting(*last.region.runtime, last.given);
    if (is_worth_timing(me_)) began_ns_ = now_ns();
  }

  // In the child of a fork inside the region, the client is the child's own, if it has one, and in
  // no region: the lease, which is the parent's, stays as it is.
  void end() noexcept override {
    bool const is_usual = has_lease_ && me_.lease_client != nullptr && began_ns_ == 0 &&
                          me_.plan == nullptr && !me_.has_exchanged && lifted_ == nullptr;
    if (!is_usual || !me_.lease_client->leave_untold()) end_unusually();
  }

 private:
  // Not inlined: it saves many registers, which each region would pay for.
  [[gnu::noinline]] void end_unusually() noexcept {
    KeptErrno const kept;  // that of the body
    if (lifted_ != nullptr) lifted_->set_max_active_levels(levels_before_);
    if (!has_lease_ || me_.lease_client == nullptr) return;
    std::uint64_t duration_ns = 0;
    if (began_ns_ != 0) {
      auto const end_ns = now_ns();
      me_.last_ns = duration_ns = end_ns - began_ns_;
      watch_preemptions(me_, end_ns);
      watch_cpus(me_, end_ns);
    }
    if (me_.plan != nullptr) end_plan(me_, *me_.plan, duration_ns);
    me_.plan = nullptr;
    // How long it took says nothing about a number of cpus where it has had several.
    bool const is_mixed = std::exchange(me_.has_exchanged, false);
    me_.lease_client->leave(is_mixed ? 0 : duration_ns);
    if (is_mixed || duration_ns >= long_ns) unpin(me_);
  }

  GrantedTeam enter(Region const& region, coordinator::Demand demand) noexcept {
    has_lease_ = true;
    GrantedTeam const granted = me_.lease_client->enter(region.id, demand);
    if (process().tells) count_region(granted);
    return granted;
  }

  void begin_flat(Region const& region, Clause clause) noexcept {
    Decision& known = me_.decisions->about(region.code);
    known.region.code = nullptr;
    TeamSettings const now = settings(*region.runtime, clause, me_);
    TeamDemand const wanted = team_demand(limits(now, region.rule), region.adjust);
    if (wanted.threads == 1) return;
    has_own_lease_ = true;
    auto const allowed = own_cpus().count;
    GrantedTeam const granted = enter(region, cpu_demand(wanted, allowed));
    auto const threads = team_size(wanted, granted.size);
    adapt_waiting(me_, *region.runtime, granted, threads, allowed);
    if (granted.size == 0) return adapt_pool(me_, *region.runtime, wanted.threads, wanted.threads);
    place(region, wanted, granted);
    bool const is_usual = !granted.is_to_be_timed && !is_short_of_cpus(granted, threads, allowed);
    if (granted.is_to_be_timed || is_worth_timing(me_)) began_ns_ = now_ns();
    if (is_usual && !is_spreading())
      known = {region,         now,           allowed, me_.lease_client->entered(), team_,
               wanted.threads, team_threads_, threads_};
  }

  // False: its threads begin no regions, or may not.
  bool begin_with_plan(Region const& region, Clause clause) noexcept {
    NestSite* const site = find_nest(region.id);
    if (site == nullptr) return false;
    Runtime const& runtime = *region.runtime;
    if (runtime.max_active_levels() <= 1 && levels_are_said()) {
      kept_flat(*site);
      return false;
    }
    TeamDemand const wanted = demand_in_nest(region, clause);
    if (wanted.threads == 1) return false;
    auto const cpus = cpus_for(*site, wanted);
    GrantedTeam const granted = enter(region, {cpus, cpus});
    me_.plan = begin_plan(*site, runtime, me_, granted, wanted);
    auto const asked = asked_threads(region, clause);
    adapt_pool(me_, runtime, asked,
               me_.plan == nullptr ? asked
               : wanted.is_exact   ? wanted.threads
                                   : me_.plan->leaders);
    if (me_.plan == nullptr) return true;
    NestedPlan const& plan = *me_.plan;
    bool const is_crowded = plan.leaders > plan.cpu_count;
    team_.cpus = is_crowded ? plan.cpus : plan.leader_cpus;
    team_.size = is_crowded ? plan.cpu_count : plan.leaders;
    team_.all = pinning_of_part(plan, plan.cpu_count);
    team_.is_shared = is_crowded;
    team_.has_plan = true;
    if (!wanted.is_exact) threads_ = plan.leaders;
    levels_before_ = lift_levels(runtime);
    if (levels_before_ >= 0) lifted_ = &runtime;
    began_ns_ = now_ns();
    return true;
  }

  bool has_lease_ = false;  // or was told why not
  int levels_before_ = 0;
  Runtime const* lifted_ = nullptr;  // has more active levels meanwhile
};

}  // namespace

void repin(Thread& me, Team const& team, Pinning to) noexcept {
  if (me.is_left_alone) return;
  if (to == unpinned) return unpin(me);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (to == team.all)
    for (std::uint32_t k = 0; k < team.size; ++k) CPU_SET(team.cpus[k], &cpus);
  else
    CPU_SET(to - 1, &cpus);
  place(me, to, cpus);
}

void begin_part(Thread& me, Team const& team, std::uint32_t number) noexcept {
  NestedPlan const& plan = *team.leader->plan;
  me.member = number;
  auto const threads = static_cast<int>(part_of(plan, number).threads);
  Runtime const& runtime = *plan.runtime;
  if (runtime.set_num_threads != nullptr && runtime.max_threads() > threads)
    runtime.set_num_threads(threads);
}

StraightCall straight_call(void const* code, Entry entry, void const* caller,
                           std::uint32_t threads) noexcept {
  Thread const& me = this_thread;
  Region const region = find_region(code, entry, caller);
  if (region.runtime == nullptr) return {nullptr, 0};
  Runtime const& runtime = *region.runtime;
  StraightCall const as_it_is{&runtime, threads}, with_one{&runtime, 1}, not_so{nullptr, 0};
  if (!process().acts) return as_it_is;
  if (study_team() != nullptr || is_spreading()) return not_so;
  bool const is_nested =
      me.is_inside || me.is_worker || (me.is_forked_inside && is_still_inside(me, runtime));
  if (!is_nested) return threads == 1 ? as_it_is : not_so;
  if (me.team == nullptr) return not_so;  // Nested frees the thread
  if (threads == 1) return as_it_is;
  bool const is_deepest =
      runtime.active_level != nullptr && runtime.active_level() >= runtime.max_active_levels();
  if (is_deepest) return as_it_is;
  bool const follows_team = me.nests_serially && threads == 0 && region.rule != TeamRule::whole;
  return follows_team ? with_one : not_so;
}

template <class Strategy, class... Arguments>
Strategy* RegionScope::make(Arguments&&... arguments) noexcept {
  static_assert(sizeof(Strategy) <= sizeof room_ && alignof(Strategy) <= 8);
  return new (room_) Strategy(me_, std::forward<Arguments>(arguments)...);
}

// False: not all is as it was then. Nothing here changes errno.
bool RegionScope::begin_as(Decision const& last, Clause clause, Team& team) noexcept {
  Thread& me = me_;
  Runtime const& runtime = *last.region.runtime;
  if (me.is_inside || me.is_worker || me.is_forked_inside || me.is_left_alone) return false;
  if (me.stack.low == nullptr || !has_room_for_messages(me)) return false;
  if (have_pools_that_follow() || !waits_as_usual(me)) return false;
  if (changes_pool(me, runtime, last.asked, last.given)) return false;
  if (last.settings != settings(runtime, clause, me) || last.allowed != own_cpus().count)
    return false;
  if (!me.lease_client->enter_again(last.lease)) return false;
  auto* const leased = make<Leased>(team, clause);
  leased->begin_as(last);
  me.region = last.region.id;
  me.team = &team;
  me.is_inside = true;
  strategy_ = leased;
  runtime_ = &runtime;
  is_outermost_ = true;
  return true;
}

void RegionScope::begin(RegionCall const& call, Clause clause, Team& team) noexcept {
  KeptErrno const kept;
  Region const region = find_region(call.code, call.entry, call.caller);
  runtime_ = region.runtime;
  if (runtime_ == nullptr) return;
  strategy_ = choose(region, clause, team);
  strategy_->begin(region, clause);
  if (!is_outermost_) return;
  me_.team = &team;
  me_.is_inside = true;
}

RegionStrategy* RegionScope::choose(Region const& region, Clause clause, Team& team) noexcept {
  if (!process().acts) return make<PassedThrough>(team, clause);
  if (me_.is_inside || me_.is_worker ||
      (me_.is_forked_inside && is_still_inside(me_, *region.runtime)))
    return make<Nested>(team, clause);
  if (clause.threads == 1) {  // the runtime makes no region
    if (study_team() == nullptr || !has_room_for_messages(me_))
      return make<PassedThrough>(team, clause);
    return make<OfOneThread>(team, clause);
  }
  is_outermost_ = true;
  team.leader = &me_;
  if (!has_room_for_messages(me_)) return make<PassedThrough>(team, clause);
  adapt_pools();
  me_.region = region.id;
  GrantedTeam const* const studied = study_team();
  bool const is_new = studied != nullptr ? me_.pinning == unpinned : me_.lease_client == nullptr;
  if (is_new && !me_.is_left_alone)
    me_.is_left_alone = !may_place(me_) || (studied == nullptr && !give_lease_client(me_));
  if (me_.is_left_alone) return make<PassedThrough>(team, clause);
  if (studied != nullptr) return make<Study>(team, clause, *studied);
  return make<Leased>(team, clause);
}

RegionScope::~RegionScope() {
  if (runtime_ == nullptr) return;
  if (is_outermost_) {
    me_.is_inside = false;
    me_.team = nullptr;
    me_.nests_serially = false;
  }
  strategy_->end();
}

}  // namespace nigh::openmp
