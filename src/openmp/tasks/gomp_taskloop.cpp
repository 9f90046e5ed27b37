// SPDX-License-Identifier: Apache-2.0
// libgomp's entry points for `taskloop`.
//
// A loop with a few tasks for each thread makes them one by one. One with more of them makes
// stretches instead: each is one task in a deque, whose thread runs many of the loop's tasks one
// after the other where the arguments lie. libgomp runs all tasks of such a loop so, in the thread
// that has come to it. A thread whose deque others have emptied gives away half of what is left of
// the stretch that it is in, unless the loop has no group.

#include <string.h>

#include "openmp/tasks/bound_member.hpp"
#include "openmp/tasks/decide.hpp"
#include "openmp/tasks/gomp_reductions.hpp"
#include "openmp/tasks/gomp_task.hpp"
#include "openmp/tasks/real.hpp"
#include "policy/stealing/waiting_tasks.hpp"

namespace nigh::openmp::tasks {
namespace {

// The iterations of a loop, whose numbers are those of the program modulo 2^64.
struct Iterations {
  std::uint64_t begin, step, count;
};
template <class Number>
Iterations iterations(Number begin, Number end, Number step, bool up) noexcept {
  auto const from = static_cast<std::uint64_t>(begin), to = static_cast<std::uint64_t>(end),
             by = static_cast<std::uint64_t>(step);
  if (up ? begin >= end : begin <= end) return {from, by, 0};
  auto const distance = up ? to - from : from - to;
  return {from, by, (distance - 1) / (up ? by : 0 - by) + 1};
}

// How they become tasks: the first `longer` of them have one iteration more than `each`, the last
// one has what is left.
struct Split {
  std::uint64_t tasks, each, longer;

  std::uint64_t before(std::uint64_t task) const noexcept {
    return task * each + (task < longer ? task : longer);
  }
};
Split split(std::uint64_t count, unsigned long said, unsigned flags,
            std::uint32_t threads) noexcept {
  if ((flags & gomp_flag::grain) == 0) {
    std::uint64_t tasks = said != 0 ? said : threads;
    if (tasks > count) tasks = count;
    return {tasks, count / tasks, count % tasks};
  }
  std::uint64_t const grain = said != 0 ? said : 1;
  if ((flags & gomp_flag::strict) != 0) return {(count - 1) / grain + 1, grain, 0};
  std::uint64_t const tasks = count / grain > 0 ? count / grain : 1;
  return {tasks, count / tasks, count % tasks};
}

// A task's arguments begin with its first iteration and the one after its last.
struct LoopArguments {
  std::uint64_t begin, end;
  std::uintptr_t* reductions;
};

struct Loop {
  Body body;
  void* arguments;
  Copy copy;
  long size, align;
  unsigned flags;
  Iterations iterations;
  Split split;

  void set(void* of_task, std::uint64_t task) const noexcept {
    auto const at = [this](std::uint64_t iteration) {
      return iterations.begin + iteration * iterations.step;
    };
    auto* const a = static_cast<LoopArguments*>(of_task);
    a->begin = at(split.before(task));
    // The last step may wrap to there, not to where the program says that the loop ends.
    a->end = at(task + 1 < split.tasks ? split.before(task + 1) : iterations.count);
  }
};

// Its tasks from `first` on, up to but not with `last`. The arguments follow it.
struct Stretch {
  Loop loop;
  std::uint64_t first, last;
};

void run_stretch(void* stretch) noexcept;

void submit_stretch(Member& me, Loop const& loop, std::uint64_t first,
                    std::uint64_t last) noexcept {
  auto const alignment = static_cast<std::size_t>(loop.align),
             size = static_cast<std::size_t>(loop.size);
  Task* const t = new_task(me, sizeof(Stretch) + alignment + size, kind_of(me, loop.flags));
  if (t == nullptr) out_of_memory();
  t->function = run_stretch;
  auto& made = *static_cast<Stretch*>(t->block());
  made = {loop, first, last};
  made.loop.arguments = aligned(&made + 1, alignment);
  memcpy(made.loop.arguments, loop.arguments, size);
  attach(me, *t);
  submit_unless_large(me, *t);
}

void run_task(Member& me, Loop const& loop, std::uint64_t task) noexcept {
  loop.set(loop.arguments, task);
  run_in_place(me, loop.body, loop.arguments, loop.flags);
}

void run_stretch(void* stretch) noexcept {
  auto const& [loop, first, last] = *static_cast<Stretch*>(stretch);
  Member& me = *member;
  // A stretch given away is a child of this one. The loop's group waits for it, but no taskwait
  // behind a loop without a group would.
  bool const may_give = (loop.flags & gomp_flag::no_group) == 0;
  for (auto task = first, end = last; task < end; ++task) {
    if (me.deque.is_wanted()) {
      if (may_give && end - task > 1 && me.deque.waiting() == 0) {
        auto const middle = task + (end - task + 1) / 2;
        submit_stretch(me, loop, middle, end);
        end = middle;
      } else if (me.deque.has_private()) {
        share(me);
      }
    }
    run_task(me, loop, task);
  }
}

void make_stretches(Member& me, Loop const& loop) noexcept {
  auto const stretches = policy::stretches(me.size);
  std::uint64_t const each = loop.split.tasks / stretches, longer = loop.split.tasks % stretches;
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < stretches; ++i) {
    auto const last = first + each + (i < longer ? 1 : 0);
    submit_stretch(me, loop, first, last);
    first = last;
  }
}

void make_tasks(Member& me, Loop const& loop, bool at_once) noexcept {
  for (std::uint64_t i = 0; i < loop.split.tasks; ++i) {
    Task& t =
        new_gomp_task(me, loop.body, loop.arguments, loop.copy, loop.size, loop.align, loop.flags);
    loop.set(arguments_of(t), i);
    attach(me, t);
    if (at_once)
      run_undeferred(me, t);
    else
      submit_unless_large(me, t);
  }
}

// By reference: a copy would be on the stack below the loop's tasks.
void taskloop(Member& me, Loop&& loop, unsigned long said) noexcept {
  auto* const given = static_cast<LoopArguments*>(loop.arguments);
  bool const groups = (loop.flags & gomp_flag::no_group) == 0,
             reduces = groups && (loop.flags & gomp_flag::reduction) != 0;
  if (loop.iterations.count == 0) {
    if (reduces) given->reductions[2] = 0;
    return;
  }
  loop.split = split(loop.iterations.count, said, loop.flags, me.size);
  if (groups) begin_group(me);
  if (reduces) register_reductions(me, given->reductions);
  bool const at_once = (loop.flags & gomp_flag::deferred) == 0 || me.current->is(flag::final);
  bool const may_be_in_place = loop.copy == nullptr && !me.current->is(flag::settings) &&
                               me.track == nullptr && !is_stack_low(me);
  bool const are_many = loop.split.tasks > policy::stretches(me.size);
  if (may_be_in_place && (at_once || (are_many && me.size == 1)))
    for (std::uint64_t task = 0; task < loop.split.tasks; ++task) run_task(me, loop, task);
  else if (may_be_in_place && are_many)
    make_stretches(me, loop);
  else
    make_tasks(me, loop, at_once);
  if (groups) end_group(wait_group(me));
}

}  // namespace
}  // namespace nigh::openmp::tasks

using namespace nigh::openmp::tasks;

NIGH_REAL(GOMP_taskloop)
NIGH_INTERPOSED void GOMP_taskloop(Body body, void* data, Copy copy, long size, long align,
                                   unsigned flags, unsigned long said, int priority, long begin,
                                   long end, long step) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskloop);
  if (me == nullptr)
    return look_again(), NIGH_PASS_ON(GOMP_taskloop, body, data, copy, size, align, flags, said,
                                      priority, begin, end, step);
  taskloop(*me, {body, data, copy, size, align, flags, iterations(begin, end, step, step > 0), {}},
           said);
}
NIGH_REAL(GOMP_taskloop_ull)
NIGH_INTERPOSED void GOMP_taskloop_ull(Body body, void* data, Copy copy, long size, long align,
                                       unsigned flags, unsigned long said, int priority,
                                       unsigned long long begin, unsigned long long end,
                                       unsigned long long step) {
  Member* const me = NIGH_GOMP_MEMBER(GOMP_taskloop_ull);
  if (me == nullptr)
    return look_again(), NIGH_PASS_ON(GOMP_taskloop_ull, body, data, copy, size, align, flags, said,
                                      priority, begin, end, step);
  bool const up = (flags & gomp_flag::up) != 0;
  taskloop(*me, {body, data, copy, size, align, flags, iterations(begin, end, step, up), {}}, said);
}
