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
  void begin_nested(Region const&) noexcept;
  void lease(Region const&, Clause) noexcept;
  void study(Region const&, Clause, Lease const&) noexcept;
  void place(Region const&, Wish, Lease const&) noexcept;

  Thread& me_;
  Team& team_;
  Region const* studied_ = nullptr;  // outlasts the stay
  std::uint32_t team_threads_ = 1;
  std::uint32_t threads_;
  bool is_outermost_ = false;
  bool has_lease_ = false;
  std::uint64_t began_ns_ = 0;
};

// What each thread of the team does first: goes where it belongs. `k` tells its number.
template <class Number>
void arrive(Team const& team, Number k) noexcept {
  Thread& me = this_thread;
  if (team.master == nullptr) return;
  if (&me == team.master) {
    if (me.team == &team) settle(me, team, 0);
    return;
  }
  me.is_worker = true;
  me.team = &team;
  settle(me, team, k());
}

}  // namespace nigh::openmp
