// SPDX-License-Identifier: Apache-2.0
// libomp's entry points for tasks, as clang, flang and icx call them. Outside of a region whose
// tasks are ours, each passes on to the runtime. Storage of reductions stays libomp's: it begins a
// taskgroup of its own beside ours when the first one is registered.

#include <stdlib.h>
#include <string.h>

#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/kmp_task.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/settings.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {
namespace {

// The compiler's flags of a task.
constexpr std::int32_t is_tied = 1, is_final = 2, has_destructors = 8, is_proxy = 16,
                       is_detachable = 64;

// kmp_depend_info
struct KmpDepend {
  std::uintptr_t address;
  std::size_t bytes;
  std::uint8_t kind;
};
static_assert(sizeof(KmpDepend) == 24);

class Depends {
 public:
  Depends(std::int32_t count, KmpDepend const* list, std::int32_t more,
          KmpDepend const* rest) noexcept {
    auto const all = static_cast<std::size_t>(count > 0 ? count : 0) +
                     static_cast<std::size_t>(more > 0 ? more : 0);
    if (all > few) items_ = static_cast<Depend*>(malloc(all * sizeof(Depend)));
    for (std::int32_t i = 0; i < count; ++i) add(list[i]);
    for (std::int32_t i = 0; i < more; ++i) add(rest[i]);
  }
  ~Depends() {
    if (items_ != few_) free(items_);
  }
  Depends(Depends&&) = delete;
  Depends& operator=(Depends&&) = delete;

  Depend const* items() const noexcept { return items_; }
  std::size_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t few = 16;

  void add(KmpDepend const& d) noexcept {
    constexpr std::uint8_t in = 1, inoutset = 8, all_memory = 0x80;
    if (d.kind == all_memory)
      items_[count_++] = {0, Access::out};
    else if (d.address != 0)
      items_[count_++] = {d.address, d.kind == in         ? Access::in
                                     : d.kind == inoutset ? Access::set
                                                          : Access::out};
  }

  std::size_t count_ = 0;
  Depend few_[few];
  Depend* items_ = few_;
};

void submit_kmpc(Member& me, Task& t) noexcept {
  count_in(me, t);
  if (me.current->is(flag::final)) {
    ++me.counts.at_once;
    run(me, t);
  } else {
    submit(me, t);
  }
}

// __kmpc_omp_task_begin_if0() leaves this for __kmpc_omp_task_complete_if0().
struct Undeferred {
  Frame before;
  Undeferred* outer;
};
constinit thread_local Undeferred* undeferred = nullptr;

struct Loop {
  std::uint64_t tasks, each, longer, last;  // last: iterations of the last task, if it has fewer
};

Loop pieces(std::uint64_t iterations, std::int32_t schedule, std::uint64_t said, bool is_strict,
            std::uint32_t threads) noexcept {
  constexpr std::int32_t by_grain = 1, by_tasks = 2;
  if (schedule == by_grain) {
    std::uint64_t const grain = said != 0 ? said : 1;
    if (is_strict) {
      auto const tasks = (iterations + grain - 1) / grain;
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
  for (std::uint64_t i = 0; i < p.tasks; ++i) {
    bool const is_last = i + 1 == p.tasks;
    auto const length = is_last && p.last != 0 ? p.last : p.each + (i < p.longer ? 1 : 0);
    auto const upper = at + static_cast<std::uint64_t>(b.step) * (length - 1);
    Task* const t = new_task(me, bytes, from.flags & static_cast<std::uint16_t>(~flag::extra));
    if (t == nullptr) out_of_memory();
    t->extra = nullptr;
    KmpTask& k = kmp_task(*t);
    memcpy(static_cast<void*>(&k), &pattern, bytes);
    auto* const block = reinterpret_cast<char*>(&k);
    if (pattern.shareds != nullptr) k.shareds = block + offset(pattern.shareds);
    memcpy(block + lower_at, &at, sizeof at);
    memcpy(block + upper_at, &upper, sizeof upper);
    if (duplicate != nullptr) duplicate(&k, &pattern, is_last ? 1 : 0);
    at = upper + static_cast<std::uint64_t>(b.step);
    count_in(me, *t);
    if (!deferred || me.current->is(flag::final)) {
      ++me.counts.at_once;
      run(me, *t);
    } else {
      submit(me, *t);
    }
  }
}

// The descriptor of a task that is never run.
void give_up(Member& me, Task& t) noexcept {
  if (t.is(flag::destructor)) destroy_private(me, t);
  t.parent.store(me.free[t.size_class], sync::relaxed);
  me.free[t.size_class] = &t;
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

NIGH_REAL(__kmpc_omp_task_alloc)
NIGH_INTERPOSED void* __kmpc_omp_task_alloc(void* where, std::int32_t thread, std::int32_t flags,
                                            std::size_t bytes, std::size_t shared_bytes,
                                            KmpTask::Routine routine) {
  Member* const me = member;
  if (me == nullptr) [[unlikely]]
    return look_again(),
           NIGH_PASS_ON(__kmpc_omp_task_alloc, where, thread, flags, bytes, shared_bytes, routine);
  auto const shared_at = (bytes + 7) & ~std::size_t{7};
  std::uint16_t const how = static_cast<std::uint16_t>(
      flag::kmpc | ((flags & is_tied) != 0 ? 0 : flag::untied) |
      ((flags & is_final) != 0 || me->current->is(flag::final) ? flag::final : 0) |
      ((flags & has_destructors) != 0 ? flag::destructor : 0));
  Task* const t = new_task(*me, shared_at + shared_bytes, how);
  if (t == nullptr) [[unlikely]]
    out_of_memory();
  t->extra = nullptr;
  KmpTask& k = kmp_task(*t);
  k.shareds = shared_bytes != 0 ? reinterpret_cast<char*>(&k) + shared_at : nullptr;
  k.routine = routine;
  k.part = 0;
  if (me->current->is(flag::settings)) [[unlikely]]
    inherit_settings(*me, *t);
  if ((flags & (is_detachable | is_proxy)) != 0) [[unlikely]] {
    extra_of(*me, *t);
    t->flags |= flag::detachable;
  }
  return &k;
}

NIGH_REAL(__kmpc_omp_task)
NIGH_INTERPOSED std::int32_t __kmpc_omp_task(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = member;
  if (me == nullptr) [[unlikely]]
    return NIGH_PASS_ON(__kmpc_omp_task, where, thread, k);
  Task& t = task_of(*k);
  if (t.is(flag::started)) [[unlikely]]
    me->again = &t;
  else
    submit_kmpc(*me, t);
  return 0;
}
NIGH_REAL(__kmpc_omp_task_parts)
NIGH_INTERPOSED std::int32_t __kmpc_omp_task_parts(void* where, std::int32_t thread, KmpTask* k) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_omp_task_parts, where, thread, k);
  return __kmpc_omp_task(where, thread, k);
}

NIGH_REAL(__kmpc_omp_task_begin_if0)
NIGH_INTERPOSED void __kmpc_omp_task_begin_if0(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = member;
  if (me == nullptr) return NIGH_PASS_ON(__kmpc_omp_task_begin_if0, where, thread, k);
  Task& t = task_of(*k);
  ++me->counts.at_once;
  t.flags |= flag::started;
  if (t.is(flag::detachable)) {
    begin_group(*me);
    t.group = me->current->group;
  }
  count_in(*me, t);
  auto* const frame = static_cast<Undeferred*>(malloc(sizeof(Undeferred)));
  if (frame == nullptr) out_of_memory();
  frame->before = begin_body(*me, t);
  if (t.is(flag::settings)) begin_settings(t);
  frame->outer = undeferred;
  undeferred = frame;
}
NIGH_REAL(__kmpc_omp_task_complete_if0)
NIGH_INTERPOSED void __kmpc_omp_task_complete_if0(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = member;
  if (me == nullptr) return NIGH_PASS_ON(__kmpc_omp_task_complete_if0, where, thread, k);
  Task& t = task_of(*k);
  while (me->again == &t) {  // an untied one has parts left
    me->again = nullptr;
    k->routine(thread, k);
  }
  Undeferred* const frame = undeferred;
  undeferred = frame->outer;
  bool const detaches = t.is(flag::detachable);
  end_body(*me, t, frame->before);
  free(frame);
  if (detaches) end_group(wait_group(*me));
}

NIGH_REAL(__kmpc_omp_taskwait)
NIGH_INTERPOSED std::int32_t __kmpc_omp_taskwait(void* where, std::int32_t thread) {
  Member* const me = member;
  if (me == nullptr) return NIGH_PASS_ON(__kmpc_omp_taskwait, where, thread);
  taskwait(*me);
  return 0;
}
NIGH_REAL(__kmpc_omp_taskyield)
NIGH_INTERPOSED std::int32_t __kmpc_omp_taskyield(void* where, std::int32_t thread, int part) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_omp_taskyield, where, thread, part);
  taskyield(*member);
  return 0;
}

// ---- taskgroups and reductions

NIGH_REAL(__kmpc_taskgroup)
NIGH_INTERPOSED void __kmpc_taskgroup(void* where, std::int32_t thread) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_taskgroup, where, thread);
  begin_group(*member);
}
NIGH_REAL(__kmpc_end_taskgroup)
NIGH_INTERPOSED void __kmpc_end_taskgroup(void* where, std::int32_t thread) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_end_taskgroup, where, thread);
  Group* const g = wait_group(*member);
  if (g->has_real) NIGH_PASS_ON(__kmpc_end_taskgroup, where, thread);
  end_group(g);
}

namespace {

// libomp keeps what is reduced in the taskgroup that it thinks it is in.
void* register_reductions(void* (*real)(int, int, void*), void (*real_group)(void*, std::int32_t),
                          int thread, int count, void* data) {
  Group* const g = member != nullptr ? member->current->group : nullptr;
  if (g != nullptr && !g->has_real) {
    real_group(nullptr, thread);
    g->has_real = true;
  }
  void* const group = real(thread, count, data);
  if (g != nullptr) g->reductions_kmpc = group;
  return group;
}

}  // namespace

NIGH_REAL(__kmpc_task_reduction_init)
NIGH_INTERPOSED void* __kmpc_task_reduction_init(int thread, int count, void* data) {
  void* const caller = __builtin_return_address(0);
  return register_reductions(
      reinterpret_cast<void* (*)(int, int, void*)>(real___kmpc_task_reduction_init.find(caller)),
      reinterpret_cast<void (*)(void*, std::int32_t)>(real___kmpc_taskgroup.find(caller)), thread,
      count, data);
}
NIGH_REAL(__kmpc_taskred_init)
NIGH_INTERPOSED void* __kmpc_taskred_init(int thread, int count, void* data) {
  void* const caller = __builtin_return_address(0);
  return register_reductions(
      reinterpret_cast<void* (*)(int, int, void*)>(real___kmpc_taskred_init.find(caller)),
      reinterpret_cast<void (*)(void*, std::int32_t)>(real___kmpc_taskgroup.find(caller)), thread,
      count, data);
}
NIGH_REAL(__kmpc_task_reduction_get_th_data)
NIGH_INTERPOSED void* __kmpc_task_reduction_get_th_data(int thread, void* group, void* item) {
  if (group == nullptr && member != nullptr)
    for (Group* g = member->current->group; g != nullptr && group == nullptr; g = g->outer)
      group = g->reductions_kmpc;
  return NIGH_PASS_ON(__kmpc_task_reduction_get_th_data, thread, group, item);
}

// reduction(task, ...) of a parallel region or a loop: the runtime begins the taskgroup that they
// need.
NIGH_REAL(__kmpc_taskred_modifier_init)
NIGH_INTERPOSED void* __kmpc_taskred_modifier_init(void* where, int thread, int is_loop, int count,
                                                   void* data) {
  if (member != nullptr) begin_group(*member);
  void* const group =
      NIGH_PASS_ON(__kmpc_taskred_modifier_init, where, thread, is_loop, count, data);
  if (member != nullptr) member->current->group->reductions_kmpc = group;
  return group;
}
NIGH_REAL(__kmpc_task_reduction_modifier_init)
NIGH_INTERPOSED void* __kmpc_task_reduction_modifier_init(void* where, int thread, int is_loop,
                                                          int count, void* data) {
  if (member != nullptr) begin_group(*member);
  void* const group =
      NIGH_PASS_ON(__kmpc_task_reduction_modifier_init, where, thread, is_loop, count, data);
  if (member != nullptr) member->current->group->reductions_kmpc = group;
  return group;
}
NIGH_REAL(__kmpc_task_reduction_modifier_fini)
NIGH_INTERPOSED void __kmpc_task_reduction_modifier_fini(void* where, int thread, int is_loop) {
  if (member != nullptr) {
    Group* const g = wait_group(*member);
    NIGH_PASS_ON(__kmpc_task_reduction_modifier_fini, where, thread, is_loop);
    return end_group(g);
  }
  NIGH_PASS_ON(__kmpc_task_reduction_modifier_fini, where, thread, is_loop);
}

// ---- dependences

NIGH_REAL(__kmpc_omp_task_with_deps)
NIGH_INTERPOSED std::int32_t __kmpc_omp_task_with_deps(void* where, std::int32_t thread, KmpTask* k,
                                                       std::int32_t count, KmpDepend* list,
                                                       std::int32_t more, KmpDepend* rest) {
  Member* const me = member;
  if (me == nullptr)
    return NIGH_PASS_ON(__kmpc_omp_task_with_deps, where, thread, k, count, list, more, rest);
  Task& t = task_of(*k);
  Depends const depends(count, list, more, rest);
  if (me->current->is(flag::final)) {
    wait_for(*me, depends.items(), depends.count());
    submit_kmpc(*me, t);
    return 0;
  }
  count_in(*me, t);
  submit_after(*me, t, depends.items(), depends.count());
  return 0;
}
NIGH_REAL(__kmpc_omp_wait_deps)
NIGH_INTERPOSED void __kmpc_omp_wait_deps(void* where, std::int32_t thread, std::int32_t count,
                                          KmpDepend* list, std::int32_t more, KmpDepend* rest) {
  if (member == nullptr)
    return NIGH_PASS_ON(__kmpc_omp_wait_deps, where, thread, count, list, more, rest);
  Depends const depends(count, list, more, rest);
  wait_for(*member, depends.items(), depends.count());
}
// With nowait, which it may also be without.
NIGH_REAL(__kmpc_omp_taskwait_deps_51)
NIGH_INTERPOSED void __kmpc_omp_taskwait_deps_51(void* where, std::int32_t thread,
                                                 std::int32_t count, KmpDepend* list,
                                                 std::int32_t more, KmpDepend* rest,
                                                 std::int32_t nowait) {
  if (member == nullptr)
    return NIGH_PASS_ON(__kmpc_omp_taskwait_deps_51, where, thread, count, list, more, rest,
                        nowait);
  Depends const depends(count, list, more, rest);
  wait_for(*member, depends.items(), depends.count());
}

// ---- events

NIGH_REAL(__kmpc_task_allow_completion_event)
NIGH_INTERPOSED void* __kmpc_task_allow_completion_event(void* where, std::int32_t thread,
                                                         KmpTask* k) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_task_allow_completion_event, where, thread, k);
  Task& t = task_of(*k);
  extra_of(*member, t);
  t.flags |= flag::detachable;
  return event_of(t);
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
  if (g->has_real) end_real_group(nullptr, me.global_number);
  end_group(g);
}

}  // namespace

NIGH_REAL(__kmpc_taskloop)
NIGH_INTERPOSED void __kmpc_taskloop(void* where, std::int32_t thread, KmpTask* k,
                                     std::int32_t deferred, std::uint64_t* lower,
                                     std::uint64_t* upper, std::int64_t step, std::int32_t no_group,
                                     std::int32_t schedule, std::uint64_t said,
                                     Duplicate duplicate) {
  if (member == nullptr)
    return NIGH_PASS_ON(__kmpc_taskloop, where, thread, k, deferred, lower, upper, step, no_group,
                        schedule, said, duplicate);
  auto* const end_group = reinterpret_cast<void (*)(void*, std::int32_t)>(
      real___kmpc_end_taskgroup.find(__builtin_return_address(0)));
  taskloop(*member, *k, deferred != 0, {lower, upper, step}, no_group != 0, schedule, said, false,
           end_group, duplicate);
}
NIGH_REAL(__kmpc_taskloop_5)
NIGH_INTERPOSED void __kmpc_taskloop_5(void* where, std::int32_t thread, KmpTask* k,
                                       std::int32_t deferred, std::uint64_t* lower,
                                       std::uint64_t* upper, std::int64_t step,
                                       std::int32_t no_group, std::int32_t schedule,
                                       std::uint64_t said, std::int32_t is_strict,
                                       Duplicate duplicate) {
  if (member == nullptr)
    return NIGH_PASS_ON(__kmpc_taskloop_5, where, thread, k, deferred, lower, upper, step, no_group,
                        schedule, said, is_strict, duplicate);
  auto* const end_group = reinterpret_cast<void (*)(void*, std::int32_t)>(
      real___kmpc_end_taskgroup.find(__builtin_return_address(0)));
  taskloop(*member, *k, deferred != 0, {lower, upper, step}, no_group != 0, schedule, said,
           is_strict != 0, end_group, duplicate);
}

// ---- scheduling points

NIGH_REAL(__kmpc_barrier)
NIGH_INTERPOSED void __kmpc_barrier(void* where, std::int32_t thread) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_barrier, where, thread);
  barrier(*member);
}
// Without OMP_CANCELLATION nothing is cancelled.
NIGH_REAL(__kmpc_cancel_barrier)
NIGH_INTERPOSED std::int32_t __kmpc_cancel_barrier(void* where, std::int32_t thread) {
  if (member == nullptr) return NIGH_PASS_ON(__kmpc_cancel_barrier, where, thread);
  barrier(*member);
  return 0;
}
NIGH_REAL(__kmpc_reduce)
NIGH_INTERPOSED std::int32_t __kmpc_reduce(void* where, std::int32_t thread, std::int32_t count,
                                           std::size_t bytes, void* data, void* function,
                                           void* lock) {
  if (member != nullptr) barrier_before_real(*member);
  return NIGH_PASS_ON(__kmpc_reduce, where, thread, count, bytes, data, function, lock);
}
NIGH_REAL(__kmpc_copyprivate)
NIGH_INTERPOSED void __kmpc_copyprivate(void* where, std::int32_t thread, std::size_t bytes,
                                        void* data, void* function, std::int32_t did_it) {
  if (member != nullptr) barrier_before_real(*member);
  NIGH_PASS_ON(__kmpc_copyprivate, where, thread, bytes, data, function, did_it);
}
