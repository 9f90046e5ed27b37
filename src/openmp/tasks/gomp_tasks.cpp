// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points for tasks, as gcc and gfortran call them. Outside of a region whose tasks
// are ours, each passes on to the runtime.

#include <string.h>

#include <utility>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/gomp_depends.hpp"
#include "openmp/tasks/gomp_reductions.hpp"
#include "openmp/tasks/gomp_task.hpp"
#include "openmp/tasks/real.hpp"
#include "openmp/tasks/settings.hpp"
#include "openmp/tasks/team.hpp"
#include "policy/stealing/waiting_tasks.hpp"

namespace nigh::openmp::tasks {
Task& new_gomp_task(Member& me, Body body, void* data, Copy copy, long size, long align,
                    unsigned flags) noexcept {
  auto const bytes = static_cast<std::size_t>(size < 0 ? 0 : size);
  auto const alignment = static_cast<std::size_t>(align);
  bool const is_aligned = alignment > alignof(Task);
  Task* const t = new_task(me, bytes + (is_aligned ? alignment : 0), kind_of(me, flags));
  if (t == nullptr) out_of_memory();
  t->function = body;
  if (me.current->is(flag::settings)) inherit_settings(me, *t);
  auto at = reinterpret_cast<std::uintptr_t>(t->block());
  if (is_aligned) {
    at = (at + alignment - 1) & ~(alignment - 1);
    extra_of(me, *t)->arguments = reinterpret_cast<void*>(at);
  }
  auto* const arguments = reinterpret_cast<void*>(at);
  if (copy != nullptr)
    copy(arguments, data);
  else if (bytes != 0)
    memcpy(arguments, data, bytes);
  return *t;
}

[[gnu::noinline]] void run_in_place(Member& me, Body body, void* data, unsigned flags) noexcept {
  Task* const t = new_task_of(me, 0, kind_of(me, flags));
  if (t == nullptr) out_of_memory();
  t->function = body;
  count_run(me);
  ++me.counts.at_once;
  Frame const before = begin_body(me, *t);
  body(data);
  end_unattached_body(me, *t, before);
}

namespace {

// Whether the current task has so many unfinished children that another one with dependences is not
// put beside them: the thread waits for those that it depends on, and runs it at once.
bool are_many_unfinished(Member const& me) noexcept {
  Task const& t = *me.current;
  auto const unfinished = static_cast<std::uint32_t>(t.own + t.others.load(sync::relaxed));
  return unfinished > policy::most_unfinished(me.size);
}

// Apart, so that their lists are not on the stack below a task's body.
[[gnu::noinline]] void wait_for_depends(Member& me, void** depend) noexcept {
  GompDepends const list(depend);
  wait_for(me, list.items(), list.count());
}
[[gnu::noinline]] void submit_after_depends(Member& me, Task& t, void** depend) noexcept {
  GompDepends const list(depend);
  submit_after(me, t, list.items(), list.count());
}

void spawn_slowly(Member& me, Body body, void* data, Copy copy, long size, long align,
                  bool deferred, unsigned flags, void** depend, void* detach) noexcept {
  bool const waits_first = (flags & gomp_flag::depend) != 0 && depend != nullptr;
  bool const detaches = (flags & gomp_flag::detachable) != 0;
  bool const at_once = !deferred || me.current->is(flag::final) ||
                       (waits_first && !detaches && are_many_unfinished(me) && !is_stack_low(me));
  if (waits_first && at_once) {
    wait_for_depends(me, depend);
    if (!detaches && copy == nullptr && !me.current->is(flag::settings))
      return run_in_place(me, body, data, flags);
  }
  Task& made = new_gomp_task(me, body, data, detaches ? Copy{[](void*, void*) {}} : copy, size,
                             align, flags);
  if (detaches) {
    // The handle is one of the arguments: these are copied once it is in its place.
    extra_of(me, made);
    made.flags |= flag::detachable;
    void* const event = event_of(made);
    *static_cast<void**>(detach) = event;
    if (data != nullptr) *static_cast<void**>(data) = event;
    if (copy != nullptr)
      copy(arguments_of(made), data);
    else
      memcpy(arguments_of(made), data, static_cast<std::size_t>(size));
  }
  attach(me, made);
  if (at_once) {
    Group* const waited = detaches ? begin_wait_for(me, made) : nullptr;
    run_undeferred(me, made);
    if (detaches) end_wait_for(me, waited);
  } else if (waits_first) {
    submit_after_depends(me, made, depend);
  } else {
    submit_unless_large(me, made);
  }
}

// So many arguments are copied in line.
constexpr unsigned long few_bytes = 64;
static_assert(sizeof(Task) + few_bytes <= least_block_bytes);

// Piece by piece, as the program has just written them: a call of memcpy() would take as long as
// all else, and a load of what was stored in pieces waits until all are in the cache.
template <class Piece>
void copy_piece(char*& to, char const*& from) noexcept {
  Piece piece;
  memcpy(&piece, from, sizeof piece);
  asm("" : "+r"(piece));
  memcpy(to, &piece, sizeof piece);
  from += sizeof piece;
  to += sizeof piece;
}
inline void copy_few(void* block, void const* data, long size) noexcept {
  auto const* from = static_cast<char const*>(data);
  auto* to = static_cast<char*>(block);
  for (long at = 0; at < (size & ~7); at += 8) copy_piece<std::uint64_t>(to, from);
  if ((size & 7) == 0) [[likely]]
    return;
  if ((size & 4) != 0) copy_piece<std::uint32_t>(to, from);
  for (long left = size & 3; left > 0; --left) copy_piece<std::uint8_t>(to, from);
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

NIGH_REAL(GOMP_task)
// GOMP_task()'s last arguments. On x86-64 they lie on the stack as they do here, where one value of
// them all would lie. So they can be passed on without being touched, and the call is a jump: while
// the runtime runs a task's body, nothing of nigh is on the stack. A recursion that needs almost
// all of the stack without nigh needs no more with it.
struct LastArguments {
  unsigned long flags_in_low_half;
  void** depend;
  unsigned long priority_in_low_half;
  void* detach;

  unsigned flags() const noexcept { return static_cast<unsigned>(flags_in_low_half); }
};
#if __has_cpp_attribute(gnu::noipa)
#define NIGH_APART [[gnu::noipa]]
#else
#define NIGH_APART [[gnu::noinline]]
#endif
NIGH_APART static void make_any_task(Body body, void* data, Copy copy, long size, long align,
                                     bool deferred, LastArguments last) {
  void const* const caller = __builtin_return_address(0);  // the program: GOMP_task() jumps here
  Member* const me = bound_member(gomp_member, real_GOMP_task, caller);
  if (me != nullptr)
    return spawn_slowly(*me, body, data, copy, size, align, deferred, last.flags(), last.depend,
                        last.detach);
  look_again();
  void* const real = real_GOMP_task.find(caller);
#if defined(__x86_64__)
  using Real = void(Body, void*, Copy, long, long, bool, LastArguments);
  return reinterpret_cast<Real*>(real)(body, data, copy, size, align, deferred, last);
#else
  using Real = void(Body, void*, Copy, long, long, bool, unsigned, void**, int, void*);
  return reinterpret_cast<Real*>(real)(body, data, copy, size, align, deferred, last.flags(),
                                       last.depend, static_cast<int>(last.priority_in_low_half),
                                       last.detach);
#endif
}
[[gnu::always_inline]] static inline void make_task(Body body, void* data, Copy copy, long size,
                                                    long align, bool deferred,
                                                    LastArguments const& last) {
  Member* const me = gomp_member;
  if (me != nullptr && copy == nullptr) [[likely]] {
    auto const flags = last.flags();
    bool const is_usual =
        deferred && static_cast<unsigned long>(size) <= few_bytes &&
        align <= static_cast<long>(alignof(Task)) &&
        (flags & (gomp_flag::depend | gomp_flag::detachable | gomp_flag::final)) == 0 &&
        !me->current->is(flag::final | flag::settings);
    if (Task* const t = is_usual ? take_free(*me, 0) : nullptr; t != nullptr) [[likely]] {
      begin_attached_task(*me, *t, (flags & gomp_flag::untied) != 0 ? flag::untied : 0);
      t->function = body;
      copy_few(t->block(), data, size);
      return submit(*me, *t);
    }
    // From here, so that the body's stack frames are not below a large one of ours.
    if (!deferred && (flags & (gomp_flag::depend | gomp_flag::detachable)) == 0 &&
        !me->current->is(flag::settings))
      return run_in_place(*me, body, data, flags);
  }
  make_any_task(body, data, copy, size, align, deferred, last);
}
#if defined(__x86_64__)
NIGH_INTERPOSED void GOMP_task(Body body, void* data, Copy copy, long size, long align,
                               bool deferred, LastArguments last) {
  make_task(body, data, copy, size, align, deferred, last);
}
#else
NIGH_INTERPOSED void GOMP_task(Body body, void* data, Copy copy, long size, long align,
                               bool deferred, unsigned flags, void** depend, int priority,
                               void* detach) {
  make_task(body, data, copy, size, align, deferred,
            {flags, depend, static_cast<unsigned>(priority), detach});
}
#endif

NIGH_REAL(GOMP_taskwait)
NIGH_INTERPOSED void GOMP_taskwait() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskwait);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskwait);
  taskwait(*me);
}

NIGH_REAL(GOMP_taskwait_depend)
NIGH_INTERPOSED void GOMP_taskwait_depend(void** depend) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskwait_depend);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskwait_depend, depend);
  wait_for_depends(*me, depend);
}

// From gcc 13 on: an empty task with these dependences.
NIGH_REAL(GOMP_taskwait_depend_nowait)
NIGH_INTERPOSED void GOMP_taskwait_depend_nowait(void** depend) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskwait_depend_nowait);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskwait_depend_nowait, depend);
  spawn_slowly(*me, [](void*) {}, nullptr, nullptr, 0, 1, true, gomp_flag::depend, depend, nullptr);
}

NIGH_REAL(GOMP_taskyield)
NIGH_INTERPOSED void GOMP_taskyield() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskyield);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskyield);
  // libgomp's does nothing: gcc's programs may hold a lock that the next task needs.
  me->team->is_libgomp ? share_all(*me) : taskyield(*me);
}

NIGH_REAL(GOMP_taskgroup_start)
NIGH_INTERPOSED void GOMP_taskgroup_start() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskgroup_start);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskgroup_start);
  begin_group(*me);
}
NIGH_REAL(GOMP_taskgroup_end)
NIGH_INTERPOSED void GOMP_taskgroup_end() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskgroup_end);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskgroup_end);
  end_group(wait_group(*me));
}

NIGH_REAL(GOMP_taskgroup_reduction_register)
NIGH_INTERPOSED void GOMP_taskgroup_reduction_register(std::uintptr_t* data) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskgroup_reduction_register);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskgroup_reduction_register, data);
  register_reductions(*me, data);
}
NIGH_REAL(GOMP_taskgroup_reduction_unregister)
NIGH_INTERPOSED void GOMP_taskgroup_reduction_unregister(std::uintptr_t* data) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskgroup_reduction_unregister);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_taskgroup_reduction_unregister, data);
  unregister_reductions(data);
}
NIGH_REAL(GOMP_task_reduction_remap)
// Those of a parallel region or a loop are libgomp's.
NIGH_INTERPOSED void GOMP_task_reduction_remap(std::size_t count, std::size_t originals,
                                               void** pointers) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_task_reduction_remap);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_task_reduction_remap, count, originals, pointers);
  std::uintptr_t* const ours = innermost_reductions(*me);
  for (std::size_t i = 0; i < count; ++i) {
    std::uintptr_t copy = 0, original = 0;
    void* of_runtime[2] = {pointers[i], nullptr};
    if (find_copy(*me, ours, reinterpret_cast<std::uintptr_t>(pointers[i]), copy, original)) {
      of_runtime[0] = reinterpret_cast<void*>(copy);
      of_runtime[1] = reinterpret_cast<void*>(original);
    } else {
      NIGH_PASS_ON(GOMP_task_reduction_remap, 1, i < originals ? 1 : 0, of_runtime);
    }
    pointers[i] = of_runtime[0];
    if (i < originals) pointers[count + i] = of_runtime[1];
  }
}
NIGH_REAL(GOMP_workshare_task_reduction_unregister)
NIGH_INTERPOSED void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  AroundRealBarrier const here(NIGH_GOMP_MEMBER(GOMP_workshare_task_reduction_unregister));
  NIGH_PASS_ON(GOMP_workshare_task_reduction_unregister, is_cancelled);
}

// ---- scheduling points

NIGH_REAL(GOMP_barrier)
NIGH_INTERPOSED void GOMP_barrier() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_barrier);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_barrier);
  barrier(*me);
}
// Without OMP_CANCELLATION nothing is cancelled.
NIGH_REAL(GOMP_barrier_cancel)
NIGH_INTERPOSED bool GOMP_barrier_cancel() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_barrier_cancel);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_barrier_cancel);
  barrier(*me);
  return false;
}
NIGH_REAL(GOMP_loop_end)
NIGH_INTERPOSED void GOMP_loop_end() {
  AroundRealBarrier const here(NIGH_GOMP_MEMBER(GOMP_loop_end));
  NIGH_PASS_ON(GOMP_loop_end);
}
NIGH_REAL(GOMP_loop_end_cancel)
NIGH_INTERPOSED bool GOMP_loop_end_cancel() {
  AroundRealBarrier const here(NIGH_GOMP_MEMBER(GOMP_loop_end_cancel));
  return NIGH_PASS_ON(GOMP_loop_end_cancel);
}
NIGH_REAL(GOMP_sections_end)
NIGH_INTERPOSED void GOMP_sections_end() {
  AroundRealBarrier const here(NIGH_GOMP_MEMBER(GOMP_sections_end));
  NIGH_PASS_ON(GOMP_sections_end);
}
NIGH_REAL(GOMP_sections_end_cancel)
NIGH_INTERPOSED bool GOMP_sections_end_cancel() {
  AroundRealBarrier const here(NIGH_GOMP_MEMBER(GOMP_sections_end_cancel));
  return NIGH_PASS_ON(GOMP_sections_end_cancel);
}
NIGH_REAL(GOMP_single_copy_start)
// The first thread begins the construct's body at once, which may end what tasks of others wait
// for; libgomp would have the others wait for it without running tasks. The compiler has all come
// to another barrier when they have copied the data.
NIGH_INTERPOSED void* GOMP_single_copy_start() {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_single_copy_start);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_single_copy_start);
  if (me->team->singles.is_first(me->singles)) return nullptr;
  barrier(*me);
  return me->team->copied;
}
NIGH_REAL(GOMP_single_copy_end)
NIGH_INTERPOSED void GOMP_single_copy_end(void* data) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_single_copy_end);
  if (me == nullptr) return NIGH_PASS_ON(GOMP_single_copy_end, data);
  me->team->copied = data;
  barrier(*me);
}
