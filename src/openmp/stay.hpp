// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread's stay in a parallel region that it begins, from before the runtime hears of it until
// all threads have left: how many threads to ask for, and on which cpus they are.

#include <cstdint>

#include "openmp/regions.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

class NIGH_HIDDEN Stay {
 public:
  // Fills in the team, which outlasts the stay.
  Stay(Region const&, Clause, Team&) noexcept;
  ~Stay();
  Stay(Stay&&) = delete;
  Stay& operator=(Stay&&) = delete;

  // For the runtime, instead of the clause; 0: it decides.
  std::uint32_t threads() const noexcept { return threads_; }

 private:
  void begin_outermost(Region const&, Clause) noexcept;
  void begin_nested(Region const&, Clause) noexcept;
  void join(Region const&, Clause, Nest const&) noexcept;
  void lease(Region const&, Clause) noexcept;
  bool nest(Region const&, Clause) noexcept;
  void study(Region const&, Clause, Lease const&) noexcept;
  void place(Region const&, Wish, Lease const&) noexcept;

  Thread& me_;
  Team& team_;
  Team const* around_ = nullptr;     // of the region that this one is in
  Region const* studied_ = nullptr;  // outlasts the stay
  Runtime const* lifted_ = nullptr;  // for which there are more active levels meanwhile
  int levels_before_ = 0;
  std::uint32_t team_threads_ = 1;
  std::uint32_t threads_;
  bool is_outermost_ = false;
  bool has_lease_ = false;
  std::uint64_t began_ns_ = 0;
};

// A thread of a nest: what it begins has its part of the cpus, and omp_get_max_threads() says so.
NIGH_HIDDEN void begin_part(Thread& me, Team const& team, std::uint32_t number) noexcept;

// What each thread of the team does first: goes where it belongs. `k` tells its number.
template <class Number>
void arrive(Team const& team, Number k) noexcept {
  Thread& me = this_thread;
  if (team.master == nullptr) return;
  if (&me == team.master) {
    if (team.level == 0) settle(me, team, 0);  // inside another region it stays where it is
    if (team.is_nest) begin_part(me, team, 0);
    return;
  }
  me.is_worker = true;
  me.team = &team;
  std::uint32_t const number = k();
  settle(me, team, number);
  if (team.is_nest) begin_part(me, team, number);
}

}  // namespace nigh::openmp
