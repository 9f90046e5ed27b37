// SPDX-License-Identifier: Apache-2.0
// How private tasks of a stack come to be shared: by its owner, or by another thread while the
// owner is away in a long task.

#include "base/race_detector.hpp"
#include "platform/fence_everywhere.hpp"
#include "platform/give_way.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "runtime/pool.hpp"
#include "runtime/stack_help.hpp"
#include "runtime/worker.hpp"

namespace nigh::tasks {

void Worker::share() noexcept { publish(policy::tasks_to_share); }

void Worker::share_all() noexcept {
  publish([](std::uint32_t is_private) { return is_private; });
}

// A task's function may make tasks while it is moved into its slot or out of it. That slot would be
// the oldest private one.
template <class HowMany>
void Worker::publish(HowMany how_many) noexcept {
  if (stack.private_tasks() == 0 || stack.is_changing()) return;
  begin_changing();
  auto const n = how_many(stack.private_tasks());
  if (n != 0) {
    base::announce_release(&stack.shared);  // (stack.C)
    stack.publish(n);
  }
  stack.end_changing();
  if (n != 0) pool.parking.notify(group, Parking::everywhere);
}

void Worker::begin_changing() noexcept {
  for (int looks = 0;; ++looks) {
    stack.begin_changing();
    if (!stack.is_helped()) [[likely]]
      return;
    stack.end_changing();
    if (looks >= sync::spins && pool.is_inherited()) forget_helper(stack);
    platform::give_way(looks);
  }
}

// An owner that has not answered meanwhile is perhaps in a long task. Only it could announce what it
// has done before.
bool Worker::share_for_others() noexcept {
  auto& may = pool.may_share_for_others;
  if (!may.load(sync::relaxed)) return false;
  if (base::is_listened_to()) {
    may.store(false, sync::relaxed);
    return false;
  }
  auto const everywhere = [&may] {
    bool const has = platform::fence_everywhere();
    if (!has) may.store(false, sync::relaxed);
    return has;
  };
  bool has_any = false, is_any_busy = false;
  for (auto const& other : pool.threads.all().first(pool.threads.slots_used())) {
    if (other.get() == this || !other->stack.is_unanswered()) continue;
    auto const helped = publish_for_owner(other->stack, everywhere);
    is_any_busy |= helped == Helped::busy;
    has_any = helped == Helped::published;
    if (has_any) break;
  }
  if (has_any)
    pool.parking.notify(group, Parking::everywhere);
  else if (is_any_busy)
    platform::yield();
  return has_any || is_any_busy;
}

}  // namespace nigh::tasks

namespace nigh::detail {

// The slow ways from a push in the public headers.
void share_tasks(task_stack& stack) noexcept { stack.worker->share(); }
void begin_changing(task_stack& stack) noexcept { stack.worker->begin_changing(); }

}  // namespace nigh::detail
