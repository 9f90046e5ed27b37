// SPDX-License-Identifier: Apache-2.0
#pragma once
// A parallel region that the calling thread begins, from before the runtime hears of it until all
// threads have left. It says how many threads to ask the runtime for, and on which cpus they sit.
//
//   RegionScope const scope(call, clause, team);     chooses a strategy, which fills in the team
//   the runtime's entry point, with scope.threads()  each thread of the team makes a MemberScope
//
//   strategy        of                        cpus
//   leased          an outermost region       a lease from nighd; if its threads begin regions of
//                                             their own and a spread is wanted, a NestedPlan on it
//   study           an outermost region of a  the same ones each time, and the region is timed
//                   process that is measured
//   of one thread   a region of such a        as without the shim, and timed
//                   process with if(false)
//                   or num_threads(1)
//   nested          a region inside another   those of the region around it, or its part of them
//   passed through  all else                  as without the shim
//
// Most regions are leased ones that begin as they did the last time: Decision (thread.hpp).

#include <cstddef>
#include <cstdint>

#include "openmp/process.hpp"
#include "openmp/regions.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// One way for a region to run. It lives in the RegionScope's own memory, and is never destroyed.
class RegionStrategy {
 public:
  virtual void begin(Region const&, Clause) noexcept = 0;
  virtual void end() noexcept = 0;  // keeps errno, which is the body's

  // For the runtime, in place of the clause; 0: the runtime decides.
  std::uint32_t threads() const noexcept { return threads_; }
  // The region has asked for a lease of its own, which may be exchanged while it runs.
  bool has_own_lease() const noexcept { return has_own_lease_; }

 protected:
  RegionStrategy(Thread& me, Team& team, Clause clause) noexcept
      : me_(me), team_(team), threads_(clause.threads) {}
  ~RegionStrategy() = default;

  Thread& me_;
  Team& team_;
  std::uint32_t threads_;
  bool has_own_lease_ = false;
};

// A call of the program that begins a region.
struct RegionCall {
  void const* code;  // of its body
  Entry entry;
  void const* caller;
};

// A region that nigh has nothing to do with: it has one thread, or the process only passes on. It
// needs no scope, and its body is the runtime's to call: then a program that nests such regions
// deeply needs no more stack than without nigh.
struct StraightCall {
  Runtime const* runtime;  // null: the region needs a scope
  std::uint32_t threads;   // for the runtime, in place of the clause
};
// Arguments as in RegionCall and Clause. Not where nigh runs the region's tasks.
NIGH_HIDDEN StraightCall straight_call(void const* code, Entry entry, void const* caller,
                                       std::uint32_t threads) noexcept;
// Whether it may be so, at a glance.
inline bool may_be_straight(std::uint32_t threads) noexcept {
  Thread const& me = this_thread;
  return me.is_inside || me.is_worker || me.is_forked_inside || threads == 1 || !process().acts;
}

class NIGH_HIDDEN RegionScope {
 public:
  // The team outlasts the scope.
  RegionScope(RegionCall const& call, Clause clause, Team& team) noexcept : me_(this_thread) {
    if (!begins_as_before(call.code, clause, team)) [[unlikely]]
      begin(call, clause, team);
  }
  ~RegionScope();
  RegionScope(RegionScope&&) = delete;
  RegionScope& operator=(RegionScope&&) = delete;

  // Null: the program has none (find_region()), and this is the scope of no region.
  Runtime const* runtime() const noexcept { return runtime_; }
  std::uint32_t threads() const noexcept { return strategy_->threads(); }
  bool has_own_lease() const noexcept { return strategy_->has_own_lease(); }

 private:
  template <class Strategy, class... Arguments>
  Strategy* make(Arguments&&...) noexcept;
  bool begins_as_before(void const* code, Clause clause, Team& team) noexcept {
    if (me_.decisions == nullptr) return false;
    Decision const& last = me_.decisions->about(code);
    bool const is_known = last.region.code == code && last.region.age == times_forgotten();
    return is_known && begin_as(last, clause, team);
  }
  bool begin_as(Decision const& last, Clause, Team&) noexcept;
  void begin(RegionCall const&, Clause, Team&) noexcept;
  RegionStrategy* choose(Region const&, Clause, Team&) noexcept;

  Thread& me_;
  Runtime const* runtime_ = nullptr;
  bool is_outermost_ = false;
  alignas(8) std::byte room_[72];
  RegionStrategy* strategy_ = nullptr;  // in the room
};

// Its lease, or else all that the process may use.
inline std::uint32_t cpus_of(Team const& team) noexcept {
  return team.size != 0 ? team.size : own_cpus().count;
}

// Of all cpus of a lease. Other cpus never get the same number.
inline Pinning pinning_of_lease(Thread const& me, GrantedTeam const& granted) noexcept {
  return Pinning{1} << 63U | Pinning{me.number} << 43U | Pinning{granted.size} << 32U |
         granted.version;
}

// So many threads on these cpus; without any, they are anywhere.
inline void give_cpus(Team& team, Thread const& leader, GrantedTeam const& granted,
                      std::uint32_t threads) noexcept {
  if (granted.size == 0) return;
  team.cpus = granted.cpus;
  team.size = granted.size;
  team.all = pinning_of_lease(leader, granted);
  team.is_shared = threads > granted.size;
}

// A thread's cpu is remembered, so that a thread that stays makes no system call.
NIGH_HIDDEN void repin(Thread& me, Team const& team, Pinning to) noexcept;
// Puts the calling thread on the cpu of number `k` of the team, if it is elsewhere.
inline void pin(Thread& me, Team const& team, std::uint32_t k) noexcept {
  Pinning to = team.all;
  if (!team.is_shared && k < team.size) to = 1 + Pinning{team.cpus[k]};
  if (me.pinning != to) repin(me, team, to);
}

// For a thread of a region with a nested plan: regions that it begins have its part of the cpus,
// and omp_get_max_threads() says so.
NIGH_HIDDEN void begin_part(Thread& me, Team const& team, std::uint32_t number) noexcept;

// A thread of the team, while it runs the region's body. First it goes to its cpu; `k` tells its
// number.
//
// The team lives in its leader's frame, so a worker forgets it after the body: the code that the
// worker runs next need not come through a region of the shim. libomp's workers lead the teams of
// a league (`omp teams`) like that.
class MemberScope {
 public:
  template <class Number>
  MemberScope(Team const& team, Number k) noexcept : me_(this_thread) {
    if (team.leader == nullptr) return;
    if (&me_ == team.leader) {
      if (team.level == 0) pin(me_, team, 0);  // inside another region it stays where it is
      if (team.has_plan) begin_part(me_, team, 0);
      return;
    }
    is_worker_ = true;
    me_.is_worker = true;
    me_.team = &team;
    std::uint32_t const number = k();
    pin(me_, team, number);
    if (team.has_plan) begin_part(me_, team, number);
  }
  ~MemberScope() {
    if (is_worker_) me_.team = nullptr;
  }
  MemberScope(MemberScope&&) = delete;
  MemberScope& operator=(MemberScope&&) = delete;

 private:
  Thread& me_;
  bool is_worker_ = false;
};

}  // namespace nigh::openmp
