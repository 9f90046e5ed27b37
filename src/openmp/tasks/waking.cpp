// SPDX-License-Identifier: Apache-2.0
// Which thread that sleeps is woken for a task, and who shares tasks that their thread has kept.

#include "openmp/tasks/team.hpp"
#include "openmp/tasks/victims.hpp"
#include "platform/fence_everywhere.hpp"

namespace nigh::openmp::tasks {

// Calls is_enough(other) for the others of the team, nearest first, until it says so.
template <class IsEnough>
static void visit_nearest_first(Member& me, IsEnough is_enough) noexcept {
  auto const visits = [&](std::uint32_t number) {
    Member* const m = me.team->members.at(number);
    return m != nullptr && is_enough(*m);
  };
  if (me.rounds_until_look == 0) look_around(me);
  if (me.plan == nullptr) {
    for (std::uint32_t k = 1; k < me.size; ++k)
      if (visits((me.number + k) % me.size)) return;
    return;
  }
  for (auto const& as_near : me.plan->levels)
    for (int const number : as_near.victims)
      if (visits(static_cast<std::uint32_t>(number))) return;
}

void notify(Member& me) noexcept {
  if (me.team->sleepers.load(sync::seq_cst) == 0) return;  // (sleeper.S)
  Member* related = nullptr;
  bool has_woken = false;
  visit_nearest_first(me, [&](Member& m) {
    if (!m.sleeper.is_asleep()) return false;
    Task* const within = m.sleeps_within.load(sync::relaxed);
    if (within == nullptr) {
      has_woken = m.sleeper.wake();
    } else if (related == nullptr &&
               (me.current == within || descends_from(*me.current, *within))) {
      related = &m;
    }
    return has_woken;
  });
  if (!has_woken && related != nullptr) related->sleeper.wake();
}

bool publish_for_others(Member& me) noexcept {
  bool has_published = false;
  visit_nearest_first(me, [&](Member& m) {
    if (m.deque.has_private() && platform::fence_everywhere()) {
      note_shared(me);
      if (m.deque.publish_for_owner(platform::fence_everywhere)) has_published = true;
    }
    return false;  // all of them
  });
  if (has_published) notify(me);
  return has_published;
}

void wake_all(Member& me) noexcept {
  if (me.team->sleepers.load(sync::seq_cst) == 0) return;  // (sleeper.S)
  for (std::uint32_t k = 0; k < me.size; ++k)
    if (Member* const m = k == me.number ? nullptr : me.team->members.at(k); m != nullptr)
      m->sleeper.wake();
}

}  // namespace nigh::openmp::tasks
