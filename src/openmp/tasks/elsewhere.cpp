// SPDX-License-Identifier: Apache-2.0
// Threads of a region that has no tasks so far wait for the others in the runtime's barrier, not in
// one of ours first: so a region without tasks costs one barrier, as it would without us. When a
// thread shares the region's first task, it counts them as arrived in our barrier, and the
// runtime's own tasks have them come back.

#include <utility>

#include "openmp/tasks/settings.hpp"
#include "openmp/tasks/team.hpp"
#include "platform/fence_everywhere.hpp"
#include "platform/futex.hpp"

namespace nigh::openmp::tasks {

void call_others(Member& me) noexcept {
  Team& team = *me.team;
  if (team.call == nullptr) return;
  // A sandbox that the process has entered since it began may refuse the fence. Stores are seen a
  // moment later without it, too.
  if (sync::atomic<std::uint32_t> nothing{0}; !platform::fence_everywhere())  // (meeting.L)
    platform::futex_wait_for(nothing, 0, 1'000'000);
  std::uint32_t called = 0;
  for (std::uint32_t k = 0; k < me.size; ++k) {
    Member* const m = k == me.number ? nullptr : team.members.at(k);
    if (m != nullptr && m->elsewhere.call(me.barriers + 1)) ++called;
  }
  if (called == 0) return;
  team.unanswered.fetch_add(called, sync::relaxed);
  if (team.arrivals.arrive(me.size, called)) wake_all(me);
  call_by_settings_before(me, called);
}

void barrier_before_real(Member& me) noexcept {
  Team& team = *me.team;
  if (me.size == 1 || team.call == nullptr || team.ever_shared.is_so()) return barrier(me);
  if (!me.implicit.is_drained()) {
    note_shared(me);  // who waits elsewhere does not arrive here unless it is called
    return barrier(me);
  }
  auto const this_one = me.barriers + 1;
  me.elsewhere.go(this_one);
  me.is_elsewhere = !team.ever_shared.is_so_before_wait();
  if (!me.is_elsewhere) [[unlikely]] {
    if (me.elsewhere.stay(this_one)) return barrier(me);
    team.unanswered.fetch_sub(1, sync::relaxed);
    run_until_all_arrive(me, me.arrivals++);
  }
  me.barriers = this_one;
}

void come_from_real(Member& me) noexcept {
  Team& team = *me.team;
  if (std::exchange(me.is_elsewhere, false) && me.elsewhere.is_called()) {  // too late
    ++me.arrivals;
    team.unanswered.fetch_sub(1, sync::relaxed);
  }
  if (std::exchange(me.owes_call, false) && team.unanswered.load(sync::relaxed) != 0)
    call_by_settings_before(me, 1);
}

// A thread that comes late from an earlier barrier of the runtime's may find a call there that
// is another's: it calls anew when it is out of there.
void answer_call(Team& team, std::uint32_t further) noexcept {
  Member* const now = member;
  // It may have left the region already.
  Member* const me = now == nullptr ? first_member : now->team == &team ? now : now->inner;
  if (me == nullptr || me->team != &team) return;
  set_member(me);
  if (further != 0) call_by_settings_before(*me, further);
  if (me->is_elsewhere && me->elsewhere.is_called()) {
    me->is_elsewhere = false;
    team.unanswered.fetch_sub(1, sync::relaxed);
    run_until_all_arrive(*me, me->arrivals++);
    if (team.lease != nullptr) note_counts(*me);
  } else {
    me->owes_call = true;
  }
  set_member(now);
}

}  // namespace nigh::openmp::tasks
