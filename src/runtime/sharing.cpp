// SPDX-License-Identifier: Apache-2.0
// How private tasks of a stack come to be shared: by its owner, or by another thread while the
// owner is away in a long task.

#include <algorithm>

#include "base/race_detector.hpp"
#include "platform/fence_everywhere.hpp"
#include "platform/pause.hpp"
#include "platform/thread.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "runtime/pool.hpp"
#include "runtime/stack_help.hpp"
#include "runtime/worker.hpp"

namespace nigh::tasks {

void Worker::share() noexcept { publish(policy::tasks_to_share); }

void Worker::share_all() noexcept {
  publish([](std::uint32_t is_private) { return is_private; });
}

template <class HowMany>
void Worker::publish(HowMany how_many) noexcept {
  if (stack.private_tasks() == 0) return;
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
    if (looks < sync::spins) {
      sync::pause();
    } else if (pool.is_inherited()) {
      forget_helper(stack);
    } else {
      platform::yield();
    }
  }
}

// The owner of private tasks that has not answered meanwhile is perhaps in a long task. Only it
// could announce what it has done before.
bool Worker::share_for_others() noexcept {
  if (base::is_listened_to()) return false;
  auto const publish_of = [this](Worker& other) {
    return &other != this && other.stack.wanted.load(sync::relaxed) &&
           other.stack.private_tasks() != 0 &&
           publish_for_owner(other.stack, platform::fence_everywhere);
  };
  auto const all = pool.threads.all().first(pool.threads.slots_used());
  bool const has =
      std::any_of(all.begin(), all.end(), [&](auto const& other) { return publish_of(*other); });
  if (has) pool.parking.notify(group, Parking::everywhere);
  return has;
}

}  // namespace nigh::tasks

// The slow way from push() in the public headers.
void nigh::detail::share_tasks(task_stack& stack) noexcept { stack.worker->share(); }
