// SPDX-License-Identifier: Apache-2.0
// A thread's way into a region and out of it, and to other cpus while it runs.

#include <stdlib.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "openmp/tasks/near_data.hpp"
#include "openmp/tasks/team.hpp"
#include "openmp/tasks/trace.hpp"
#include "platform/cpu_places.hpp"
#include "policy/stealing/waiting_tasks.hpp"

namespace nigh::openmp::tasks {

void set_member(Member* now) noexcept {
  member = now;
  Team const* const first = now != nullptr && now->team->is_first ? now->team : nullptr;
  gomp_member = first != nullptr && !first->is_kmpc ? now : nullptr;
  kmpc_member = first != nullptr && first->is_kmpc ? now : nullptr;
}

void enter(Team& team, Joined how) noexcept {
  Member* const outer = member;
  Member*& kept = outer != nullptr ? outer->inner : first_member;
  if (kept == nullptr) kept = member_for_this_thread(outer);
  Member& me = *kept;
  if (outer != nullptr) share_all(*outer);
  if (me.size != how.size || me.number != how.number) me.rounds_until_look = 0;
  me.number = how.number;
  me.size = how.size;
  me.global_number = how.global_number;
  me.number_in_libomp = team.is_kmpc ? how.global_number : -1;
  me.team = &team;
  me.kmpc_group = nullptr;
  me.follower.begin();
  me.look_after(1);
  me.has_let_others_begin = me.is_elsewhere = me.owes_call = false;
  me.elsewhere.begin();
  me.arrivals = 0;
  me.barriers = 0;
  me.singles = 0;
  if (team.size.load(sync::relaxed) != how.size) team.size.store(how.size, sync::relaxed);
  me.random = how.number * 7919U + 1;
  int const cpu = platform::cpu_of_thread();
  me.cpu.store(cpu, sync::relaxed);
  if (platform::domains() > 1) {
    me.domain = cpu < 0 ? 0 : platform::place_of(cpu).domain;
    team.domains.add(me.domain);
  }
  me.deque.begin(how.size > 1   ? deque_capacity
                 : team.is_kmpc ? 0
                                : policy::most_unfinished(1) + 1,
                 how.size == 1);
  me.base = me.deque.top();
  Task& t = me.implicit;
  t.parent.store(nullptr, sync::relaxed);
  t.own = 0;
  t.others.store(Task::running, sync::relaxed);
  t.owner.store(&me, sync::relaxed);
  t.extra = nullptr;
  t.group = nullptr;
  t.home = &me;
  t.level.store(0, sync::relaxed);
  t.flags = flag::kmpc | flag::implicit;
  me.current = me.tied = &t;
  if (!team.members.put(how.size, how.number, me)) out_of_memory();
  set_member(&me);
  if (me.track != nullptr) [[unlikely]]
    me.track->begin_region(outer != nullptr ? outer->track : nullptr);
}

void leave() noexcept {
  Member& me = *member;
  barrier_before_real(me);
  if (me.team->lease != nullptr) note_counts(me);
  if (me.track != nullptr) [[unlikely]]
    me.track->end_region(me.outer != nullptr ? me.outer->track : nullptr);
  if (Task& t = me.implicit; t.is(flag::extra)) {
    drop(t.extra->children);
    Kept<Extra>::give_back(t.extra);
    t.flags = flag::kmpc | flag::implicit;
  }
  set_member(me.outer);
}

void end(Team& team) noexcept {
  if (team.lease != nullptr) tell_counts(*team.lease, base::now_ns());
  team.members.clear();
  end_near_data(team);
}

// ---- its lease

// The leader exchanges a lease that is outdated once all members have come and followed it to the
// last one.
static void exchange_lease(Member& me) noexcept {
  Team& team = *me.team;
  auto const now = team.changes.count();
  for (std::uint32_t k = 0; k < me.size; ++k) {
    Member const* const m = team.members.at(k);
    if (m == nullptr || !m->follower.has_followed(now)) return;
  }
  auto const cpus = team.lease->exchange(me.size);
  if (cpus == 0) return;
  ++me.counts.exchanged;
  team.cpus.store(cpus, sync::relaxed);
  team.changes.add();
  wake_all(me);
}

void follow_lease(Member& me) noexcept {
  Team& team = *me.team;
  if (me.number == 0 && team.lease->is_outdated()) exchange_lease(me);
  auto const now = team.changes.count();
  if (!me.follower.is_behind(now)) return;
  team.lease->settle(me.number);
  me.follower.follow(now);
  me.rounds_until_look = 0;
}

// A thread that always has tasks of its own looks about once in a millisecond, as its last tasks
// tell; the next ones may be longer.
void follow_sometimes(Member& me) noexcept {
  constexpr std::int64_t usual_ns = 1'000'000, most = 1024;
  if (me.team->lease == nullptr) return me.look_after(most);
  auto const now = base::now_ns();
  auto const passed = std::max<std::int64_t>(1, now - std::exchange(me.looked_ns, now));
  std::int64_t const before = me.runs_between_looks;
  auto const runs =
      std::clamp<std::int64_t>(before * usual_ns / passed, 1, std::min(2 * before, most));
  me.look_after(static_cast<std::uint32_t>(runs));
  note_counts(me);
  if (me.number == 0) tell_counts(*me.team->lease, now);
  follow_lease(me);
}

}  // namespace nigh::openmp::tasks
