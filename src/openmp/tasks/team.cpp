// SPDX-License-Identifier: Apache-2.0
// tidy: long, because the ways to wait share how they search, share and sleep.
#include "openmp/tasks/team.hpp"

#include <stdlib.h>

#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "openmp/tasks/kmp_task.hpp"
#include "openmp/tasks/near_data.hpp"
#include "openmp/tasks/settings.hpp"
#include "openmp/tasks/trace.hpp"
#include "openmp/tasks/victims.hpp"
#include "openmp/tasks/waiting.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {

constinit thread_local Member* member = nullptr;
constinit thread_local Member* gomp_member = nullptr;
constinit thread_local Member* kmpc_member = nullptr;

namespace {

// A leader has to hear of its lease.
constexpr std::int64_t leader_sleeps_ns = 10'000'000;

bool is_crowded(Member const& me) noexcept { return me.size > me.team->cpus.load(sync::relaxed); }

// ---- ends of tasks

void recycle(Member* me, Task& t) noexcept {
  if (t.is(flag::extra)) [[unlikely]] {
    drop(t.extra->children);
    Kept<Extra>::give_back(t.extra);
  }
  t.begin_counts();
  Member* const home = t.home;
  if (home == me) [[likely]] {
    t.parent.store(home->free[t.size_class], sync::relaxed);
    home->free[t.size_class] = &t;
  } else {
    home->returned[t.size_class].give_back(&t);
  }
}

// Something has ended that a task waits for, or holds its descriptor for.
void count_down(Member* me, Task* t, std::int64_t by) noexcept {
  for (;;) {
    Member* const owner = t->owner.load(sync::relaxed);
    if (owner == me && me != nullptr) [[likely]] {
      t->own -= by;
      return;
    }
    if (!t->count_down(by)) {
      Member* const waits = t->owner_after_count();
      if (waits != nullptr) waits->sleeper.wake();  // (sleeper.S)
      return;
    }
    Task* const parent = t->parent.load(sync::relaxed);
    recycle(me, *t);
    t = parent;
    by = Task::held;
  }
}

// All that the task itself does has been done.
void complete(Member* me, Task& t) noexcept {
  if (t.is(flag::extra)) [[unlikely]] {
    release_dependents(me, t, After::body);
    if (Group* const g = t.extra->waited; g != nullptr) {
      Member* const waiting = g->owner;
      g->others.fetch_sub(1, sync::seq_cst);  // (task.K) (sleeper.S) the last look at it
      waiting->sleeper.wake();
    }
  }
  if (Group* const g = t.group; g != nullptr) {
    if (Member* const waiting = g->owner; waiting == me && me != nullptr) {
      --g->own;
    } else {
      g->others.fetch_sub(1, sync::seq_cst);  // (task.K) (sleeper.S) the last look at the group
      waiting->sleeper.wake();
    }
  }
  Task* const parent = t.parent.load(sync::relaxed);
  if (t.is_drained()) [[likely]] {
    recycle(me, t);
    return count_down(me, parent, Task::child);
  }
  t.owner.store(nullptr, sync::relaxed);
  count_down(me, parent, Task::unfinished);
  if (t.end_body()) {
    recycle(me, t);
    count_down(me, parent, Task::held);
  }
}

// The same where all of it is this thread's, as it mostly is. False: not here.
[[gnu::always_inline]] inline bool complete_here(Member& me, Task& t) noexcept {
  Task* const parent = t.parent.load(sync::relaxed);
  Group* const g = t.group;
  if (t.home != &me || parent->owner.load(sync::relaxed) != &me || !t.is_as_begun() ||
      (g != nullptr && g->owner != &me))
    return false;
  if (g != nullptr) --g->own;
  parent->own -= Task::child;
  t.parent.store(me.free[t.size_class], sync::relaxed);
  me.free[t.size_class] = &t;
  return true;
}

void body_ended(Member& me, Task& t) noexcept {
  if (t.is(flag::settings)) end_settings(t);
  if (t.is(flag::destructor)) destroy_private(me, t);
  if (t.is(flag::detachable)) {
    // The event may come on another thread: all counts are in `others` before it can.
    t.put_off();
    if (!t.extra->ends.is_second()) return;  // the event has yet to come
  }
  complete(&me, t);
}

// ---- looking for tasks

Task* steal_from(Member& me, Member& victim, level where, level topmost) noexcept {
  std::array<Task*, most_at_once> taken;
  std::uint32_t count = 0;
  Task* const within = me.tied;
  auto const chunk = [=](std::uint32_t waiting) {
    return within == nullptr ? chunk_from(where, topmost, waiting) : 1;
  };
  auto const may = [within](Task const& t) {
    return within == nullptr || descends_from(t, *within);
  };
  // Only siblings go together. The victim may come to wait for any task that is taken, and may then
  // take it back only if nothing that it does not wait for lies before it in the thief's deque.
  if (victim.deque.steal(taken, count, chunk, may, are_siblings) != Steal::taken) return nullptr;
  me.counts.stolen[static_cast<std::size_t>(where)] += count;
  if (me.track != nullptr) [[unlikely]]
    me.track->stole(victim.number, where, count);
  for (std::uint32_t i = 1; i < count; ++i)
    if (!me.deque.push(taken[i])) inject(*me.team, *taken[i]);
  if (count > 1) share_all(me);  // the first may take long
  if (victim.deque.has_shared()) notify(me);
  return taken[0];
}

// One round, nearest first.
Task* steal_by(Member& me, policy::VictimPlan const& plan) noexcept {
  auto const bits = base::next_random(me.random);
  for (int attempt = 0; attempt < plan.attempts_per_round; ++attempt) {
    auto const v = policy::victim(plan, policy::VictimChoice::hierarchical, attempt, bits);
    Member* const victim = me.team->members.at(static_cast<std::uint32_t>(v.worker));
    if (victim == nullptr) continue;
    auto const where = plan.levels[static_cast<std::size_t>(v.level)].level;
    if (Task* const t = steal_from(me, *victim, where, plan.topmost); t != nullptr) return t;
  }
  return nullptr;
}

Task* steal(Member& me) noexcept {
  Team& team = *me.team;
  if (Task* const t = team.injected.take(me.tied); t != nullptr) return t;
  if (me.size == 1 || !team.ever_shared.is_so()) return nullptr;
  if (me.rounds_until_look == 0)
    look_around(me);
  else
    --me.rounds_until_look;
  if (me.plan != nullptr) return steal_by(me, *me.plan);
  for (std::uint32_t k = 1; k < me.size; ++k) {
    Member* const victim = team.members.at((me.number + k) % me.size);
    if (victim == nullptr) continue;
    if (Task* const t = steal_from(me, *victim, level::host, level::host); t != nullptr) return t;
  }
  return nullptr;
}

[[gnu::always_inline]] inline Task* own_newest(Member& me) noexcept {
  Task* const t = me.deque.pop(me.base);
  // Now, for a long task is about to run; and after pop(), which takes shared tasks back.
  if (me.deque.is_wanted() && me.deque.has_private()) [[unlikely]]
    share(me);
  return t;
}

bool is_anything_shared(Member const& me) noexcept {
  if (!me.team->ever_shared.is_so_before_wait()) return false;
  for (std::uint32_t k = 0; k < me.size; ++k) {
    Member const* const m = k == me.number ? nullptr : me.team->members.at(k);
    if (m != nullptr && m->deque.has_shared()) return true;
  }
  return false;
}

// Last, for they have just found that they can not go on.
Task* take_yielded(Member& me) noexcept {
  Task* const t = me.team->yielded.take(me.tied);
  // Now and then, for a cpu that is yielded may be away for milliseconds.
  if (t != nullptr && is_crowded(me) && base::next_random(me.random) % 64 == 0) platform::yield();
  return t;
}

Task* find_task(Member& me) noexcept {
  if (me.team->lease != nullptr) follow_lease(me);
  Task* t = own_newest(me);
  if (t == nullptr) t = take_near(me);
  if (t == nullptr) t = steal(me);
  if (t == nullptr) t = take_from_afar(me, false);
  if (t == nullptr) t = take_yielded(me);
  return t;
}

// Those who have gone on have made it, and all else that the thread has at hand.
void leave_to_others(Member& me, Task& found) noexcept {
  inject(*me.team, found);
  while (Task* const t = me.deque.pop(me.base)) inject(*me.team, *t);
}

struct Always {
  bool operator()() const noexcept { return true; }
};

template <class Done, class MayRun>
void search(Member& me, Done done, MayRun may_run) noexcept {
  Patience patience(is_crowded(me));
  TracedWait traced(me.track);
  while (!done()) {
    Task* t = find_task(me);
    bool const is_over = t == nullptr && !patience.goes_on(me.team->ever_shared.is_so());
    if (is_over) t = take_from_afar(me, true);
    if (t != nullptr) {
      traced.found();
      if (!may_run()) [[unlikely]]
        return leave_to_others(me, *t);
      if (me.stack_low == Member::unknown_stack) [[unlikely]]
        look_for_stack(me);
      run(me, *t);
      patience.begin();
      continue;
    }
    traced.search();
    if (!is_over || publish_for_others(me)) continue;
    me.sleeps_within.store(me.tied, sync::relaxed);
    ++me.counts.slept;
    traced.sleep();
    auto const news = [&] {
      return done() || me.team->injected.has_any() ||
             me.follower.is_behind(me.team->changes.count_before_sleep()) ||
             (me.tied == nullptr &&
              (is_anything_shared(me) || is_any_near(me) || me.team->yielded.has_any()));
    };
    note_counts(me);
    if (me.number != 0 || me.team->lease == nullptr) {
      me.sleeper.sleep(me.team->sleepers, news);
    } else if (!me.sleeper.sleep_for(me.team->sleepers, news, leader_sleeps_ns)) {
      tell_counts(*me.team->lease, base::now_ns());
      continue;  // one look is enough
    }
    patience.begin();
  }
}

// may_run() is asked when a task is found, so later than done(). When it says no, done() is true.
// With little stack left a thread runs no more than the tasks that it has made itself, or that
// those have made.
template <class Done, class MayRun = Always>
void search_until(Member& me, Done done, MayRun may_run = {}) noexcept {
  Task* const tied = me.tied;
  if (is_known_stack_low(me)) [[unlikely]]
    me.tied = me.current;
  search(me, done, may_run);
  me.tied = tied;
}

// Once a region, where no earlier region of this code had tasks: the other threads of a crowded
// team may not have had a cpu yet, and quick tasks would all be this thread's. It runs one of its
// own, so that not all are another's.
void let_others_begin(Member& me) noexcept {
  if (std::exchange(me.has_let_others_begin, true)) return;
  if (me.team->had_tasks || !is_crowded(me) || !me.deque.has_shared()) return;
  if (Task* const t = own_newest(me)) run(me, *t);
  platform::yield();
}

}  // namespace

// ---- tasks

Extra* extra_of(Member& me, Task& t) noexcept {
  if (t.is(flag::extra)) return t.extra;
  Extra* const used = me.extras.take();
  if (used == nullptr) out_of_memory();
  auto* const extra = new (used) Extra;
  if (!t.is(flag::kmpc)) extra->function = t.function;
  extra->team = me.team;
  t.extra = extra;
  t.flags |= flag::extra;
  return extra;
}

// Here, because a call would take as long as the rest of a small task's end.
[[gnu::always_inline]] static inline void end_body_here(Member& me, Task& t,
                                                        Frame const& before) noexcept {
  me.current = before.current;
  me.tied = before.tied;
  me.base = before.base;
  if (t.is(flag::extra | flag::destructor | flag::detachable)) [[unlikely]]
    return body_ended(me, t);
  if (!complete_here(me, t)) [[unlikely]]
    complete(&me, t);
}

void end_body(Member& me, Task& t, Frame const& before) noexcept { end_body_here(me, t, before); }

void end_body_late(Member& me, Task& t, Task* current, Task* tied, std::uint32_t base) noexcept {
  me.current = current;
  attach(me, t);
  end_body(me, t, {current, tied, base});
}

// A later part of it follows, on this thread or another. That one may not look at the place in the
// deque where its tasks are now.
[[gnu::noinline]] static void put_off(Member& me, Task& t, Frame const& before) noexcept {
  while (Task* const made = me.deque.pop(me.base)) inject(*me.team, *made);
  me.current = before.current;
  me.tied = before.tied;
  me.base = before.base;
  if (t.is(flag::settings)) end_settings(t);
  --me.counts.made;  // it is counted again
  t.put_off();
  note_shared(me);
  if (!me.team->yielded.put(t)) out_of_memory();
  notify(me);
}

[[gnu::always_inline]] static inline void run_body(Member& me, Task& t) noexcept {
  count_run(me);
  Frame const before = begin_body(me, t);
  if (t.is(flag::kmpc)) {
    if (!run_kmpc(me, t)) [[unlikely]]
      return put_off(me, t, before);
  } else if (!t.is(flag::extra)) [[likely]] {
    t.function(t.block());
  } else {
    t.extra->function(t.extra->arguments != nullptr ? t.extra->arguments : t.block());
  }
  end_body_here(me, t, before);
}

static void const* code_of(Task& t) noexcept {
  if (t.is(flag::kmpc)) return reinterpret_cast<void const*>(kmp_task(t).routine);
  return reinterpret_cast<void const*>(t.is(flag::extra) ? t.extra->function : t.function);
}

void run_plainly(Member& me, Task& t) noexcept {
  if (me.track == nullptr) [[likely]]
    return run_body(me, t);
  bool const is_anothers = t.home != &me;  // the descriptor goes with the body
  auto const before = me.track->begin_task(code_of(t), is_anothers);
  run_body(me, t);
  me.track->end_task(before, is_anothers);
}

void run(Member& me, Task& t) noexcept {
  if (((me.current->flags | t.flags) & flag::settings) != 0) [[unlikely]]
    return run_with_settings(me, t);
  if (me.track != nullptr) [[unlikely]]
    return run_plainly(me, t);
  run_body(me, t);
}

void share(Member& me) noexcept {
  note_shared(me);
  if (me.deque.publish()) notify(me);
}

void share_all(Member& me) noexcept {
  if (!me.deque.has_private()) return;
  note_shared(me);
  me.deque.publish_all();
  notify(me);
}

void inject(Team& team, Task& t) noexcept {
  if (!team.injected.put(t)) out_of_memory();
  if (team.sleepers.load(sync::seq_cst) == 0) return;  // (sleeper.S)
  auto const size = team.size.load(sync::relaxed);
  for (std::uint32_t k = 0; k < size; ++k)
    if (Member* const m = team.members.at(k); m != nullptr) m->sleeper.wake();
}

void submit_slowly(Member& me, Task& t) noexcept {
  if (!me.deque.push(&t)) return submit_at_once(me, t);
  if (me.deque.is_wanted()) share(me);
}

void submit_at_once(Member& me, Task& t) noexcept {
  if (is_stack_low(me)) [[unlikely]] {
    if (!me.deque.push(&t)) inject(*me.team, t);
    return;
  }
  ++me.counts.at_once;
  run(me, t);
}

void fulfill(Task& t) noexcept {
  if (!t.extra->ends.is_second()) return;  // its body has yet to end
  // As by another thread: in a signal handler this one may sleep, or be about to change its own
  // counts.
  release_dependents(nullptr, t, After::event);
  complete(nullptr, t);
}

// ---- waiting

[[gnu::noinline]] static void search_for_children(Member& me, Task& t) noexcept {
  while (Task* const own = own_newest(me)) {
    run(me, *own);
    if (t.is_childless()) return;
  }
  search_until(me, [&t] { return t.is_childless(); });
}

// As run(), for a task that waits. Most that it finds are its children, and have nothing beside a
// body.
[[gnu::always_inline]] static inline void run_child(Member& me, Task& waiting, Task& t,
                                                    Frame const& before) noexcept {
  auto const kind = t.flags;
  if ((kind & ~flag::kmpc) != 0 || t.parent.load(sync::relaxed) != &waiting) [[unlikely]]
    return run(me, t);
  count_run(me);
  me.current = me.tied = &t;
  me.base = me.deque.top();
  t.owner.store(&me, sync::relaxed);
  if (kind == 0)
    t.function(t.block());
  else
    kmp_task(t).routine(me.global_number, &kmp_task(t));
  me.current = before.current;
  me.tied = before.tied;
  me.base = before.base;
  Group* const g = t.group;
  if (t.flags != kind || !t.is_as_begun() || (g != nullptr && g->owner != &me)) [[unlikely]]
    return end_body(me, t, before);
  if (g != nullptr) --g->own;
  // A thread that runs a task has made its children, and is where their descriptors go back to.
  waiting.own -= Task::child;
  t.parent.store(me.free[t.size_class], sync::relaxed);
  me.free[t.size_class] = &t;
}

void taskwait_slowly(Member& me) noexcept {
  Task& t = *me.current;
  if (me.track == nullptr && !t.is(flag::settings)) [[likely]] {
    Frame const before{&t, me.tied, me.base};
    while (Task* const own = own_newest(me)) {
      run_child(me, t, *own, before);
      if (t.is_childless()) return;
    }
  }
  search_for_children(me, t);
}

void wait_until(Member& me, Done done, void* what) noexcept {
  search_until(me, [done, what] { return done(what); });
}

void taskyield(Member& me) noexcept {
  Task* const t = is_stack_low(me) ? nullptr : find_task(me);
  if (t != nullptr) run(me, *t);
  if (me.current->is(flag::untied)) me.has_yielded = me.current;
}

// No thread goes on before all tasks that were made until then have ended. So a task that was found
// before others went on can be run, and one that was found later may need what this thread does
// only behind the barrier, as to begin a loop with reductions.
void run_until_all_arrive(Member& me, std::uint32_t before) noexcept {
  auto const have_gone_on = [&] { return me.team->arrivals.has_gone_on(before); };
  Task* const tied = std::exchange(me.tied, nullptr);
  search_until(me, have_gone_on, [&] { return !have_gone_on(); });
  me.tied = tied;
}

void barrier(Member& me) noexcept {
  Task* const tied = std::exchange(me.tied, nullptr);
  search_until(me, [&me] { return me.implicit.is_drained(); });
  me.tied = tied;
  if (me.size > 1) {
    auto const before = me.arrivals++;
    if (me.team->arrivals.arrive(me.size))
      wake_all(me);
    else
      run_until_all_arrive(me, before);
  }
  ++me.barriers;
}

void begin_group(Member& me) noexcept {
  auto* const room = malloc(sizeof(Group));
  if (room == nullptr) out_of_memory();
  auto* const g = new (room) Group;
  g->outer = me.current->group;
  g->owner = &me;
  g->of = me.current;
  me.current->group = g;
}

Group* wait_group(Member& me) noexcept {
  Group* const g = me.current->group;
  auto const done = [g] {
    return g->own + g->others.load(sync::seq_cst) == 0;  // (task.K) (sleeper.S)
  };
  if (!done()) {
    let_others_begin(me);
    search_until(me, done);
  }
  me.current->group = g->outer;
  return g;
}

void end_group(Group* group) noexcept { free(group); }

Group* begin_wait_for(Member& me, Task& t) noexcept {
  begin_group(me);
  Group* const g = me.current->group;
  me.current->group = g->outer;  // its own tasks are not in it
  g->others.store(1, sync::relaxed);
  return extra_of(me, t)->waited = g;
}

void end_wait_for(Member& me, Group* g) noexcept {
  search_until(me, [g] { return g->others.load(sync::seq_cst) == 0; });  // (task.K) (sleeper.S)
  end_group(g);
}

}  // namespace nigh::openmp::tasks
