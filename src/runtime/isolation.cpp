// SPDX-License-Identifier: Apache-2.0
// Isolated regions, and resident tasks. A bit of Worker::depth says that the task which a thread runs is
// in such a region, another that it is resident. Under such a bit pushes take the slow path (stack.limit
// is the stack's beginning), which writes the depth into the task's slot; a thief takes it over from there
// for as long as it runs the task. So what a task with the bit spawns has it on every thread, and all
// other pushes cost what they did.
//
// Resident tasks stay in their process. Where a work source takes tasks, those are resident that come from
// threads of the program, and detached ones: when the source has ended they may go on.
//
// A slot that is stolen may have had another task when its thief looked at it, so a thief cannot
// choose tasks of its region. A thread that waits in a region therefore steals nothing, and takes
// nothing from queues: policy::permissions(). It runs what is on its own stack, which is of the
// region, since joins come newest first. All else that it may wait for runs on threads that took it,
// or is taken by its backup thread, which is in no region when it begins.

#include <algorithm>
#include <nigh/isolate.hpp>

#include "base/assert.hpp"
#include "runtime/current_thread.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::tasks {

std::uint32_t Worker::set_depth(std::uint32_t to) noexcept {
  auto const before = depth;
  depth = to;
  if (((before ^ to) & mark_bits) == 0) return before;
  if (stack.limit != nullptr)
    stack.limit = pool.limits_forks() || marks() != 0 ? stack.slots : room_ends;
  if (marks() == 0) clear_marks();
  return before;
}

void Worker::mark(detail::task_slot& slot) noexcept {
  if (marked_to == nullptr) marked_from = &slot;
  marked_from = std::min(marked_from, &slot);
  marked_to = std::max(marked_to, &slot + 1);
}

// A plain push leaves a slot's depth as it is, and a thief would take its task for one with the bits
// of an earlier one. Slots below the top may still hold tasks with bits.
void Worker::clear_marks() noexcept {
  if (marked_to == nullptr) return;
  auto* const free = std::max<detail::task_slot*>(marked_from, stack.top);
  for (auto* slot = free; slot < marked_to; ++slot) slot->depth &= ~mark_bits;
  marked_to = free > marked_from ? std::min(free, marked_to) : nullptr;
}

}  // namespace nigh::tasks

namespace nigh::detail {

isolation::isolation() {
  if (this_stack == &no_stack) before_ = enter(default_scheduler());
  stack_ = this_stack;
  base_ = stack_->top;
  auto* const me = stack_->worker;
  if (me != nullptr) depth_ = me->set_depth(me->depth | tasks::Worker::isolated_bit);
}

isolation::~isolation() {
  NIGH_ASSERT(this_stack == stack_, "an isolated region ends in the thread that began it");
  finish_down_to(*stack_, base_);
  auto* const me = stack_->worker;
  if (me != nullptr) me->set_depth(depth_);
  if (before_ != nullptr) leave(before_);
}

bool may_run_at_once() noexcept {
  auto const* const me = this_stack->worker;
  return me == nullptr || me->is_isolated() || !me->is_stack_short(tasks::Worker::for_chains);
}

bool in_isolated_region() noexcept {
  auto const* const me = this_stack->worker;
  return me != nullptr && me->is_isolated();
}

}  // namespace nigh::detail
