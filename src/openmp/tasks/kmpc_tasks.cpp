// SPDX-License-Identifier: Apache-2.0
// libomp's entry points for single tasks, as clang, flang and icx call them. Outside of a region
// whose tasks are ours, each passes on to the runtime.

#include <stdlib.h>
#include <string.h>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/depend_list.hpp"
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

struct Depends : DependList {
  Depends(std::int32_t count, KmpDepend const* list, std::int32_t more,
          KmpDepend const* rest) noexcept
      : DependList(static_cast<std::size_t>(count > 0 ? count : 0) +
                   static_cast<std::size_t>(more > 0 ? more : 0)) {
    for (std::int32_t i = 0; i < count; ++i) add_kmpc(list[i]);
    for (std::int32_t i = 0; i < more; ++i) add_kmpc(rest[i]);
  }

 private:
  void add_kmpc(KmpDepend const& d) noexcept {
    constexpr std::uint8_t in = 1, out = 2, mutexinoutset = 4, inoutset = 8, all_memory = 0x80;
    if (d.kind == all_memory || d.address == UINTPTR_MAX) return add({0, Access::out});
    if (d.address == 0) return;
    switch (d.kind) {
      case in:
        return add({d.address, Access::in});
      case out:
      case in | out:
        return add({d.address, Access::out});
      case mutexinoutset:
        return add({d.address, Access::mutex});
      case inoutset:
        return add({d.address, Access::set});
      default:
        add_unknown();
    }
  }
};

void submit_kmpc(Member& me, Task& t) noexcept {
  attach(me, t);
  if (me.current->is(flag::final)) {
    ++me.counts.at_once;
    run(me, t);
  } else {
    t.is(flag::extra) ? submit_somewhere(me, t) : submit_unless_large(me, t);
  }
}

// Where in a kmp_task_t of so many bytes the pointers to shared variables begin.
std::size_t shared_place(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

// __kmpc_omp_task_begin_if0() leaves this for __kmpc_omp_task_complete_if0().
struct Undeferred {
  Frame before;
  Undeferred* outer;
  Group* waited;  // of a detachable one
};
constinit thread_local Undeferred* undeferred = nullptr;

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

// Functions that make tasks call this first: it takes libomp as long as a small task takes us.
NIGH_REAL(__kmpc_global_thread_num)
NIGH_INTERPOSED std::int32_t __kmpc_global_thread_num(void* where) {
  Member const* const me = kmpc_member;
  if (me != nullptr && me->number_in_libomp >= 0) [[likely]]
    return me->number_in_libomp;
  return NIGH_PASS_ON_FROM(where, __kmpc_global_thread_num, where);
}

NIGH_REAL(__kmpc_omp_task_alloc)
static void* fill_in(Task& t, std::size_t shared_at, std::size_t shared_bytes,
                     KmpTask::Routine routine) noexcept {
  KmpTask& k = kmp_task(t);
  k.shareds = shared_bytes != 0 ? reinterpret_cast<char*>(&k) + shared_at : nullptr;
  k.routine = routine;
  k.part = 0;
  return &k;
}
NIGH_INTERPOSED void* __kmpc_omp_task_alloc(void* where, std::int32_t thread, std::int32_t flags,
                                            std::size_t bytes, std::size_t shared_bytes,
                                            KmpTask::Routine routine);
[[gnu::noinline]] static void* alloc_any_task(void* where, std::int32_t thread, std::int32_t flags,
                                              std::size_t bytes, std::size_t shared_bytes,
                                              KmpTask::Routine routine) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_task_alloc);
  if (me == nullptr)
    return look_again(), NIGH_PASS_ON_FROM(where, __kmpc_omp_task_alloc, where, thread, flags,
                                           bytes, shared_bytes, routine);
  auto const shared_at = shared_place(bytes);
  std::uint16_t const how = static_cast<std::uint16_t>(
      flag::kmpc | ((flags & is_tied) != 0 ? 0 : flag::untied) |
      ((flags & is_final) != 0 || me->current->is(flag::final) ? flag::final : 0) |
      ((flags & has_destructors) != 0 ? flag::destructor : 0));
  Task* const t = new_task(*me, shared_at + shared_bytes, how);
  if (t == nullptr) out_of_memory();
  if (t->size_class >= large_class) t->flags |= flag::large;
  if (me->current->is(flag::settings)) inherit_settings(*me, *t);
  if ((flags & (is_detachable | is_proxy)) != 0) {
    extra_of(*me, *t);
    t->flags |= flag::detachable;
  }
  return fill_in(*t, shared_at, shared_bytes, routine);
}
NIGH_INTERPOSED void* __kmpc_omp_task_alloc(void* where, std::int32_t thread, std::int32_t flags,
                                            std::size_t bytes, std::size_t shared_bytes,
                                            KmpTask::Routine routine) {
  Member* const me = kmpc_member;
  if (me == nullptr || flags != is_tied || me->current->is(flag::final | flag::settings))
      [[unlikely]]
    return alloc_any_task(where, thread, flags, bytes, shared_bytes, routine);
  auto const shared_at = shared_place(bytes);
  auto const size_class = size_class_of(sizeof(Task) + shared_at + shared_bytes);
  Task* const t = size_class < large_class ? take_free(*me, size_class) : nullptr;
  if (t == nullptr) [[unlikely]]
    return alloc_any_task(where, thread, flags, bytes, shared_bytes, routine);
  begin_task(*t, *me->current, flag::kmpc);
  return fill_in(*t, shared_at, shared_bytes, routine);
}

// A target region with nowait, of a library that was opened while the region ran: else such a
// process keeps libomp's tasks (decide.cpp). The device is the host.
NIGH_REAL(__kmpc_omp_target_task_alloc)
NIGH_INTERPOSED void* __kmpc_omp_target_task_alloc(void* where, std::int32_t thread,
                                                   std::int32_t flags, std::size_t bytes,
                                                   std::size_t shared_bytes,
                                                   KmpTask::Routine routine, std::int64_t device) {
  if (NIGH_KMPC_MEMBER(where, __kmpc_omp_target_task_alloc) == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_omp_target_task_alloc, where, thread, flags, bytes,
                             shared_bytes, routine, device);
  return alloc_any_task(where, thread, flags & ~is_tied, bytes, shared_bytes, routine);
}

NIGH_REAL(__kmpc_omp_task)
NIGH_INTERPOSED std::int32_t __kmpc_omp_task(void* where, std::int32_t thread, KmpTask* k);
[[gnu::noinline]] static std::int32_t submit_any_task(void* where, std::int32_t thread,
                                                      KmpTask* k) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_task);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_omp_task, where, thread, k);
  Task& t = task_of(*k);
  if (t.is(flag::started))
    me->again = &t;
  else
    submit_kmpc(*me, t);
  return 0;
}
// A team of one runs each task at once, as libomp does: then its parent waits for it in any case.
[[gnu::noinline]] static std::int32_t run_instead(Member& me, Task& t) noexcept {
  if (!me.deque.is_shut() || is_stack_low(me) || me.track != nullptr) [[unlikely]] {
    attach(me, t);
    submit_slowly(me, t);
    return 0;
  }
  ++me.counts.at_once;
  count_run(me);
  Frame const before = begin_body(me, t);
  kmp_task(t).routine(me.global_number, &kmp_task(t));
  end_unattached_body(me, t, before);
  return 0;
}
NIGH_INTERPOSED std::int32_t __kmpc_omp_task(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = kmpc_member;
  Task& t = task_of(*k);
  if (me == nullptr || t.flags != flag::kmpc || me->current->is(flag::final | flag::settings))
      [[unlikely]]
    return submit_any_task(where, thread, k);
  if (!me->deque.has_room_at_hand()) [[unlikely]]
    return run_instead(*me, t);
  attach(*me, t);  // first: another thread may publish it at once, and end it
  me->deque.push_at_hand(&t);
  if (me->deque.is_wanted()) [[unlikely]]
    share(*me);
  return 0;
}
NIGH_REAL(__kmpc_omp_task_parts)
NIGH_INTERPOSED std::int32_t __kmpc_omp_task_parts(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_task_parts);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_omp_task_parts, where, thread, k);
  return __kmpc_omp_task(where, thread, k);
}

NIGH_REAL(__kmpc_omp_task_begin_if0)
NIGH_INTERPOSED void __kmpc_omp_task_begin_if0(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_task_begin_if0);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_omp_task_begin_if0, where, thread, k);
  Task& t = task_of(*k);
  ++me->counts.at_once;
  t.flags |= flag::started;
  ++me->counts.made;
  attach(*me, t);
  auto* const frame = static_cast<Undeferred*>(malloc(sizeof(Undeferred)));
  if (frame == nullptr) out_of_memory();
  frame->waited = t.is(flag::detachable) ? begin_wait_for(*me, t) : nullptr;
  frame->before = begin_body(*me, t);
  if (t.is(flag::settings)) begin_settings(t);
  frame->outer = undeferred;
  undeferred = frame;
}
NIGH_REAL(__kmpc_omp_task_complete_if0)
NIGH_INTERPOSED void __kmpc_omp_task_complete_if0(void* where, std::int32_t thread, KmpTask* k) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_task_complete_if0);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_omp_task_complete_if0, where, thread, k);
  Task& t = task_of(*k);
  while (me->again == &t) {  // an untied one has parts left
    me->again = nullptr;
    k->routine(thread, k);
  }
  Undeferred* const frame = undeferred;
  undeferred = frame->outer;
  Group* const waited = frame->waited;
  end_body(*me, t, frame->before);
  free(frame);
  if (waited != nullptr) end_wait_for(*me, waited);
}

NIGH_REAL(__kmpc_omp_taskwait)
NIGH_INTERPOSED std::int32_t __kmpc_omp_taskwait(void* where, std::int32_t thread);
[[gnu::noinline]] static std::int32_t wait_anywhere(void* where, std::int32_t thread) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_taskwait);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_omp_taskwait, where, thread);
  taskwait(*me);
  return 0;
}
NIGH_INTERPOSED std::int32_t __kmpc_omp_taskwait(void* where, std::int32_t thread) {
  Member* const me = kmpc_member;
  if (me == nullptr) [[unlikely]]
    return wait_anywhere(where, thread);
  taskwait(*me);
  return 0;
}
NIGH_REAL(__kmpc_omp_taskyield)
NIGH_INTERPOSED std::int32_t __kmpc_omp_taskyield(void* where, std::int32_t thread, int part) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_taskyield);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_omp_taskyield, where, thread, part);
  taskyield(*me);
  return 0;
}

// ---- dependences

// As libomp does in a team of one thread: each task of the parent's has ended when the next one
// comes, so dependences need not be looked at.
static bool may_run_in_order(Member& me, Task const& t) noexcept {
  return me.size == 1 && !t.is(flag::detachable) && !has_dependences(*me.current) &&
         !is_stack_low(me);
}
NIGH_REAL(__kmpc_omp_task_with_deps)
NIGH_INTERPOSED std::int32_t __kmpc_omp_task_with_deps(void* where, std::int32_t thread, KmpTask* k,
                                                       std::int32_t count, KmpDepend* list,
                                                       std::int32_t more, KmpDepend* rest) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_task_with_deps);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_omp_task_with_deps, where, thread, k, count, list, more,
                             rest);
  Task& t = task_of(*k);
  Depends const depends(count, list, more, rest);
  if (me->current->is(flag::final)) {
    wait_for(*me, depends.items(), depends.count());
    submit_kmpc(*me, t);
    return 0;
  }
  attach(*me, t);
  if (may_run_in_order(*me, t)) {
    ++me->counts.at_once;
    run(*me, t);
    return 0;
  }
  submit_after(*me, t, depends.items(), depends.count());
  return 0;
}
NIGH_REAL(__kmpc_omp_wait_deps)
NIGH_INTERPOSED void __kmpc_omp_wait_deps(void* where, std::int32_t thread, std::int32_t count,
                                          KmpDepend* list, std::int32_t more, KmpDepend* rest) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_wait_deps);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_omp_wait_deps, where, thread, count, list, more, rest);
  Depends const depends(count, list, more, rest);
  wait_for(*me, depends.items(), depends.count());
}
// With nowait, which it may also be without.
NIGH_REAL(__kmpc_omp_taskwait_deps_51)
NIGH_INTERPOSED void __kmpc_omp_taskwait_deps_51(void* where, std::int32_t thread,
                                                 std::int32_t count, KmpDepend* list,
                                                 std::int32_t more, KmpDepend* rest,
                                                 std::int32_t nowait) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_taskwait_deps_51);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_omp_taskwait_deps_51, where, thread, count, list, more,
                             rest, nowait);
  Depends const depends(count, list, more, rest);
  wait_for(*me, depends.items(), depends.count());
}

// ---- events

NIGH_REAL(__kmpc_task_allow_completion_event)
NIGH_INTERPOSED void* __kmpc_task_allow_completion_event(void* where, std::int32_t thread,
                                                         KmpTask* k) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_task_allow_completion_event);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_task_allow_completion_event, where, thread, k);
  Task& t = task_of(*k);
  extra_of(*me, t);
  t.flags |= flag::detachable;
  return event_of(t);
}

// A task that another thread, or a device, does the rest of. It may be the runtime's.
NIGH_REAL(__kmpc_proxy_task_completed)
NIGH_INTERPOSED void __kmpc_proxy_task_completed(std::int32_t thread, KmpTask* k) {
  if (!is_task(task_of(*k))) return NIGH_PASS_ON(__kmpc_proxy_task_completed, thread, k);
  fulfill(task_of(*k));
}
NIGH_REAL(__kmpc_proxy_task_completed_ooo)
NIGH_INTERPOSED void __kmpc_proxy_task_completed_ooo(KmpTask* k) {
  if (!is_task(task_of(*k))) return NIGH_PASS_ON(__kmpc_proxy_task_completed_ooo, k);
  fulfill(task_of(*k));
}

// ---- affinity

namespace {

// kmp_task_affinity_info_t
struct KmpAffinity {
  std::uintptr_t address;
  std::size_t bytes;
  std::uint32_t flags;
};
static_assert(sizeof(KmpAffinity) == 24);

}  // namespace

// Of several places, the one in the middle of the largest counts.
NIGH_REAL(__kmpc_omp_reg_task_with_affinity)
NIGH_INTERPOSED std::int32_t __kmpc_omp_reg_task_with_affinity(void* where, std::int32_t thread,
                                                               KmpTask* k, std::int32_t count,
                                                               KmpAffinity const* list) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_omp_reg_task_with_affinity);
  if (me == nullptr)
    return NIGH_PASS_ON_FROM(where, __kmpc_omp_reg_task_with_affinity, where, thread, k, count,
                             list);
  KmpAffinity const* largest = nullptr;
  for (std::int32_t i = 0; i < count; ++i)
    if (list[i].address != 0 && (largest == nullptr || list[i].bytes > largest->bytes))
      largest = list + i;
  if (largest != nullptr)
    extra_of(*me, task_of(*k))->near =
        reinterpret_cast<void const*>(largest->address + largest->bytes / 2);
  return 0;
}

// ---- scheduling points

NIGH_REAL(__kmpc_barrier)
NIGH_INTERPOSED void __kmpc_barrier(void* where, std::int32_t thread) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_barrier);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_barrier, where, thread);
  barrier(*me);
}
// Without OMP_CANCELLATION nothing is cancelled.
NIGH_REAL(__kmpc_cancel_barrier)
NIGH_INTERPOSED std::int32_t __kmpc_cancel_barrier(void* where, std::int32_t thread) {
  Member* const me = NIGH_KMPC_MEMBER(where, __kmpc_cancel_barrier);
  if (me == nullptr) return NIGH_PASS_ON_FROM(where, __kmpc_cancel_barrier, where, thread);
  barrier(*me);
  return 0;
}
NIGH_REAL(__kmpc_reduce)
NIGH_INTERPOSED std::int32_t __kmpc_reduce(void* where, std::int32_t thread, std::int32_t count,
                                           std::size_t bytes, void* data, void* function,
                                           void* lock) {
  AroundRealBarrier const here(NIGH_KMPC_MEMBER(where, __kmpc_reduce));
  return NIGH_PASS_ON_FROM(where, __kmpc_reduce, where, thread, count, bytes, data, function, lock);
}
NIGH_REAL(__kmpc_copyprivate)
NIGH_INTERPOSED void __kmpc_copyprivate(void* where, std::int32_t thread, std::size_t bytes,
                                        void* data, void* function, std::int32_t did_it) {
  AroundRealBarrier const here(NIGH_KMPC_MEMBER(where, __kmpc_copyprivate));
  NIGH_PASS_ON_FROM(where, __kmpc_copyprivate, where, thread, bytes, data, function, did_it);
}
