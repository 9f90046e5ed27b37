// SPDX-License-Identifier: Apache-2.0
// libomp's entry points for taskgroups, reductions and taskloops. Storage of reductions stays
// libomp's: it begins a taskgroup of its own beside ours when the first one is registered.

#include <stdlib.h>
#include <string.h>

#include <utility>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/kmp_task.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/settings.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {
namespace {

struct Loop {
  std::uint64_t tasks, each, longer, last;  // last: iterations of the last task, if it has fewer
};

Loop pieces(std::uint64_t iterations, std::int32_t schedule, std::uint64_t said, bool is_strict,
            std::uint32_t threads) noexcept {
  constexpr std::int32_t by_grain = 1, by_tasks = 2;
  if (schedule == by_grain) {
    std::uint64_t const grain = said != 0 ? said : 1;
    if (is_strict) {
      auto const tasks = (iterations - 1) / grain + 1;
      return {tasks, grain, 0, iterations - (tasks - 1) * grain};
    }
    auto const tasks = grain > iterations ? 1 : iterations / grain;
    return {tasks, iterations / tasks, iterations % tasks, 0};
  }
  auto tasks = schedule == by_tasks && said != 0 ? said : std::uint64_t{threads} * 10;
  if (tasks > iterations) tasks = iterations;
  return {tasks, iterations / tasks, iterations % tasks, 0};
}

using Duplicate = void (*)(KmpTask* to, KmpTask* from, std::int32_t is_last);

struct LoopBounds {
  std::uint64_t* lower;
  std::uint64_t* upper;  // the last iteration
  std::int64_t step;
};

std::uint64_t iterations_of(LoopBounds const& b) noexcept {
  std::uint64_t const lower = *b.lower, upper = *b.upper;
  if (b.step == 1) return upper - lower + 1;
  if (b.step < 0)
    return (lower - upper) / (std::uint64_t{0} - static_cast<std::uint64_t>(b.step)) + 1;
  return (upper - lower) / static_cast<std::uint64_t>(b.step) + 1;
}

void spawn_pieces(Member& me, KmpTask& pattern, LoopBounds const& b, Loop const& p, bool deferred,
                  Duplicate duplicate) noexcept {
  Task const& from = task_of(pattern);
  auto const bytes = (least_block_bytes << from.size_class) - sizeof(Task);
  auto const offset = [&pattern](void const* in) {
    return static_cast<char const*>(in) - reinterpret_cast<char const*>(&pattern);
  };
  auto const lower_at = offset(b.lower), upper_at = offset(b.upper);
  auto at = *b.lower;
  // The pattern's own Extra stays with it.
  auto const flags = from.flags & static_cast<std::uint16_t>(~(flag::extra | flag::settings));
  for (std::uint64_t i = 0; i < p.tasks; ++i) {
    bool const is_last = i + 1 == p.tasks;
    auto const length = is_last && p.last != 0 ? p.last : p.each + (i < p.longer ? 1 : 0);
    auto const upper = at + static_cast<std::uint64_t>(b.step) * (length - 1);
    Task* const t = new_task(me, bytes, static_cast<std::uint16_t>(flags));
    if (t == nullptr) out_of_memory();
    t->extra = nullptr;
    if (me.current->is(flag::settings)) inherit_settings(me, *t);
    KmpTask& k = kmp_task(*t);
    memcpy(static_cast<void*>(&k), &pattern, bytes);
    auto* const block = reinterpret_cast<char*>(&k);
    if (pattern.shareds != nullptr) k.shareds = block + offset(pattern.shareds);
    memcpy(block + lower_at, &at, sizeof at);
    memcpy(block + upper_at, &upper, sizeof upper);
    if (duplicate != nullptr) duplicate(&k, &pattern, is_last ? 1 : 0);
    at = upper + static_cast<std::uint64_t>(b.step);
    attach(me, *t);
    if (!deferred || me.current->is(flag::final)) {
      ++me.counts.at_once;
      run(me, *t);
    } else {
      submit(me, *t);
    }
  }
}

// The head of libomp's kmp_taskgroup_t.
struct KmpGroup {
  std::int32_t count, is_cancelled;
  void* outer;
};

void begin_kmpc(Member& me, Group& g, void* group) noexcept {
  g.reductions_kmpc = group;
  g.kmpc_before = std::exchange(me.kmpc_group, group);
}

// Variables of an outer taskgroup are looked for there. libomp has begun this one on this thread's
// implicit task, so it does not know an outer one that another thread has begun.
void link_to_outer(Group& g) noexcept {
  auto* const group = static_cast<KmpGroup*>(g.reductions_kmpc);
  if (group == nullptr || group->outer != g.kmpc_before) return;  // another libomp than we know
  Group const* outer = g.outer;
  while (outer != nullptr && outer->reductions_kmpc == nullptr) outer = outer->outer;
  if (outer == nullptr) return;
  group->outer = outer->reductions_kmpc;
  g.is_linked = true;
}

// Before libomp ends it.
void end_kmpc(Member& me, Group& g) noexcept {
  if (g.is_linked) static_cast<KmpGroup*>(g.reductions_kmpc)->outer = g.kmpc_before;
  me.kmpc_group = g.kmpc_before;
}

// The descriptor of a task that is never run.
void give_up(Member& me, Task& t) noexcept {
  if (t.is(flag::destructor)) destroy_private(me, t);
  if (t.is(flag::extra)) Kept<Extra>::give_back(t.extra);
  t.parent.store(me.free[t.size_class], sync::relaxed);
  me.free[t.size_class] = &t;
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

// ---- taskgroups and reductions

NIGH_REAL(__kmpc_taskgroup)
NIGH_INTERPOSED void __kmpc_taskgroup(void* where, std::int32_t thread) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_taskgroup);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_taskgroup, where, thread);
  begin_group(*me);
}
NIGH_REAL(__kmpc_end_taskgroup)
NIGH_INTERPOSED void __kmpc_end_taskgroup(void* where, std::int32_t thread) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_end_taskgroup);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_end_taskgroup, where, thread);
  Group* const g = wait_group(*me);
  if (g->has_real) {
    end_kmpc(*me, *g);
    NIGH_PASS_ON_FROM(where, __kmpc_end_taskgroup, where, thread);
  }
  end_group(g);
}

namespace {

// libomp keeps what is reduced in the taskgroup that it thinks it is in.
void* register_reductions(Member* me, void* (*real)(int, int, void*),
                          void (*real_group)(void*, std::int32_t), int thread, int count,
                          void* data) {
  Group* const g = me != nullptr ? me->current->group : nullptr;
  if (g == nullptr || g->has_real) return real(thread, count, data);
  note_shared(*me);  // before: libomp's group would wait for the calls
  real_group(nullptr, thread);
  g->has_real = true;
  void* const group = real(thread, count, data);
  begin_kmpc(*me, *g, group);
  link_to_outer(*g);
  return group;
}

}  // namespace

NIGH_REAL(__kmpc_task_reduction_init)
NIGH_INTERPOSED void* __kmpc_task_reduction_init(int thread, int count, void* data) {
  void* const caller = __builtin_return_address(0);
  return register_reductions(
      NIGH_KMPC_MEMBER(caller, __kmpc_task_reduction_init),
      reinterpret_cast<void* (*)(int, int, void*)>(real___kmpc_task_reduction_init.find(caller)),
      reinterpret_cast<void (*)(void*, std::int32_t)>(real___kmpc_taskgroup.find(caller)), thread,
      count, data);
}
NIGH_REAL(__kmpc_taskred_init)
NIGH_INTERPOSED void* __kmpc_taskred_init(int thread, int count, void* data) {
  void* const caller = __builtin_return_address(0);
  return register_reductions(
      NIGH_KMPC_MEMBER(caller, __kmpc_taskred_init),
      reinterpret_cast<void* (*)(int, int, void*)>(real___kmpc_taskred_init.find(caller)),
      reinterpret_cast<void (*)(void*, std::int32_t)>(real___kmpc_taskgroup.find(caller)), thread,
      count, data);
}
NIGH_REAL(__kmpc_task_reduction_get_th_data)
NIGH_INTERPOSED void* __kmpc_task_reduction_get_th_data(int thread, void* group, void* item) {
  Member* const me =
      NIGH_KMPC_MEMBER(__builtin_return_address(0), __kmpc_task_reduction_get_th_data);
  if (group == nullptr && me != nullptr)
    for (Group* g = me->current->group; g != nullptr && group == nullptr; g = g->outer)
      group = g->reductions_kmpc;
  return NIGH_PASS_ON(__kmpc_task_reduction_get_th_data, thread, group, item);
}

// reduction(task, ...) of a parallel region or a loop: the runtime begins the taskgroup that they
// need.
static void begin_group_beside_real(Member& me) noexcept {
  note_shared(me);  // before: libomp's group would wait for the calls
  begin_group(me);
}
NIGH_REAL(__kmpc_taskred_modifier_init)
NIGH_INTERPOSED void* __kmpc_taskred_modifier_init(void* where, int thread, int is_loop, int count,
                                                   void* data) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_taskred_modifier_init);
  if (me != nullptr) begin_group_beside_real(*me);
  void* const group =
      NIGH_PASS_ON_FROM(where, __kmpc_taskred_modifier_init, where, thread, is_loop, count, data);
  if (me != nullptr) begin_kmpc(*me, *me->current->group, group);
  return group;
}
NIGH_REAL(__kmpc_task_reduction_modifier_init)
NIGH_INTERPOSED void* __kmpc_task_reduction_modifier_init(void* where, int thread, int is_loop,
                                                          int count, void* data) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_task_reduction_modifier_init);
  if (me != nullptr) begin_group_beside_real(*me);
  void* const group = NIGH_PASS_ON_FROM(where, __kmpc_task_reduction_modifier_init, where, thread,
                                        is_loop, count, data);
  if (me != nullptr) begin_kmpc(*me, *me->current->group, group);
  return group;
}
NIGH_REAL(__kmpc_task_reduction_modifier_fini)
NIGH_INTERPOSED void __kmpc_task_reduction_modifier_fini(void* where, int thread, int is_loop) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_task_reduction_modifier_fini);
  if (me != nullptr) {
    Group* const g = wait_group(*me);
    end_kmpc(*me, *g);
    NIGH_PASS_ON_FROM(where, __kmpc_task_reduction_modifier_fini, where, thread, is_loop);
    return end_group(g);
  }
  NIGH_PASS_ON_FROM(where, __kmpc_task_reduction_modifier_fini, where, thread, is_loop);
}

// ---- taskloops

namespace {

void taskloop(Member& me, KmpTask& pattern, bool deferred, LoopBounds const& bounds,
              bool has_no_group, std::int32_t schedule, std::uint64_t said, bool is_strict,
              void (*end_real_group)(void*, std::int32_t), Duplicate duplicate) {
  if (!has_no_group) {
    begin_group(me);
    task_of(pattern).group = me.current->group;
  }
  std::uint64_t const iterations = iterations_of(bounds);
  if (iterations != 0)
    spawn_pieces(me, pattern, bounds, pieces(iterations, schedule, said, is_strict, me.size),
                 deferred, duplicate);
  give_up(me, task_of(pattern));
  if (has_no_group) return;
  Group* const g = wait_group(me);
  if (g->has_real) {
    end_kmpc(me, *g);
    end_real_group(nullptr, me.global_number);
  }
  end_group(g);
}

}  // namespace

NIGH_REAL(__kmpc_taskloop)
NIGH_INTERPOSED void __kmpc_taskloop(void* where, std::int32_t thread, KmpTask* k,
                                     std::int32_t deferred, std::uint64_t* lower,
                                     std::uint64_t* upper, std::int64_t step, std::int32_t no_group,
                                     std::int32_t schedule, std::uint64_t said,
                                     Duplicate duplicate) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_taskloop);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_taskloop, where, thread, k, deferred, lower, upper, step,
                             no_group, schedule, said, duplicate);
  auto* const end_group = reinterpret_cast<void (*)(void*, std::int32_t)>(
      real___kmpc_end_taskgroup.find(__builtin_return_address(0)));
  taskloop(*me, *k, deferred != 0, {lower, upper, step}, no_group != 0, schedule, said, false,
           end_group, duplicate);
}
NIGH_REAL(__kmpc_taskloop_5)
NIGH_INTERPOSED void __kmpc_taskloop_5(void* where, std::int32_t thread, KmpTask* k,
                                       std::int32_t deferred, std::uint64_t* lower,
                                       std::uint64_t* upper, std::int64_t step,
                                       std::int32_t no_group, std::int32_t schedule,
                                       std::uint64_t said, std::int32_t is_strict,
                                       Duplicate duplicate) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_taskloop_5);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_taskloop_5, where, thread, k, deferred, lower, upper,
                             step, no_group, schedule, said, is_strict, duplicate);
  auto* const end_group = reinterpret_cast<void (*)(void*, std::int32_t)>(
      real___kmpc_end_taskgroup.find(__builtin_return_address(0)));
  taskloop(*me, *k, deferred != 0, {lower, upper, step}, no_group != 0, schedule, said,
           is_strict != 0, end_group, duplicate);
}
