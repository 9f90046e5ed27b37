// SPDX-License-Identifier: Apache-2.0
#include "runtime/work_source.hpp"

#include "runtime/pool.hpp"

namespace nigh::tasks {
namespace {

class NoWorkSource final : public WorkSource {
 public:
  bool find(detail::task&) noexcept override { return false; }
  bool in_sight() const noexcept override { return false; }
  bool takes_tasks() const noexcept override { return false; }
};

}  // namespace

WorkSource& no_work_source() noexcept {
  static constinit NoWorkSource none;
  return none;
}

// Begins after the stack that was robbed last. A worker that asks on its own thread can share half
// of its private tasks: few tasks are shared otherwise, and a visit from afar should bring many.
bool ExternalThief::take(Taken& taken, HowMany const& how_many) noexcept {
  auto* const here = detail::this_stack->worker;
  if (here != nullptr && &here->pool == &pool_) here->share();
  auto const end = pool_.threads.slots_used();
  auto const first = next_victim_.load(sync::relaxed);
  for (std::uint32_t i = 0; i < end; ++i) {
    auto& victim = pool_.threads[(first + i) % end];
    if (!victim.take_tasks(detail::task_slot::no_thread, taken.tasks, how_many)) continue;
    taken.victim = &victim;
    next_victim_.store((first + i + 1) % end, sync::relaxed);
    return true;
  }
  return false;
}

bool ExternalThief::is_resident(detail::task_slot const& taken) noexcept {
  return (taken.depth & Worker::resident_bit) != 0;
}

bool ExternalThief::is_isolated(detail::task_slot const& taken) noexcept {
  return (taken.depth & Worker::isolated_bit) != 0;
}

detail::task ExternalThief::task_for_here(Worker& victim, detail::task_slot& slot) noexcept {
  return detail::make_task(
      [victim = &victim, slot = &slot] { Worker::run_stolen_slot(*victim, *slot); });
}

void ExternalThief::finish(Worker& victim, detail::task_slot& slot) noexcept {
  victim.finish_stolen(slot);
}

bool ExternalThief::has_idle_workers() const noexcept {
  if (!pool_.parking.anybody_idle()) return false;
  for (auto const& w : pool_.threads.workers())
    if (w->stack.has_shared()) return false;
  return true;
}

void ExternalThief::call_workers() noexcept { pool_.parking.notify(0, Parking::everywhere); }

}  // namespace nigh::tasks
