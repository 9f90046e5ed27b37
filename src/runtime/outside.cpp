// SPDX-License-Identifier: Apache-2.0
// Tasks that come from outside the process, and that go there.

#include "runtime/outside.hpp"

#include <cstring>

#include "runtime/scheduler.hpp"

namespace nigh::detail {

bool scheduler::find_outside(Worker& me, task& t) noexcept {
  if (!outside_tasks_->find(t)) return false;
  me.tasks.spawned();
  return true;
}

// Beginning behind the seat that was robbed last. Who asks on a worker's own thread can share half
// of what only that worker reaches first: few tasks are shared otherwise, and a visit from afar
// should bring many.
bool scheduler::take_for_outside(Taken& taken, HowMany const& how_many) noexcept {
  auto* const here = this_stack->worker;
  if (here != nullptr && &here->host == this) share(*here);
  auto const end = static_cast<std::uint32_t>(extras_end_.load(sync::acquire));
  auto const first = next_robbed_.load(sync::relaxed);
  for (std::uint32_t i = 0; i < end; ++i) {
    auto& victim = *seats_[(first + i) % end];
    if (!victim.is_robbed(task_slot::away - 1, taken.tasks, how_many)) continue;
    taken.victim = &victim;
    next_robbed_.store((first + i + 1) % end, sync::relaxed);
    return true;
  }
  return false;
}

// What was taken, and cannot leave the process.
task scheduler::run_here_after_all(Worker& victim, task_slot& slot) noexcept {
  return make_task([victim = &victim, slot = &slot] {
    task_slot proxy;
    proxy.object = slot;
    std::memcpy(proxy.closure, &victim, sizeof victim);
    run_stolen_slot(proxy, nullptr);
  });
}

void scheduler::finish_outside(Worker& victim, task_slot& slot) noexcept {
  slot.finish();
  wake(victim);
}

bool scheduler::has_idle_workers() const noexcept {
  if (!parking_->anybody_idle()) return false;
  for (auto const& w : pinned_workers())
    if (w->stack.has_shared()) return false;
  return true;
}

void scheduler::call_workers() noexcept { parking_->notify(0, tasks::Parking::everywhere); }

}  // namespace nigh::detail
