// SPDX-License-Identifier: Apache-2.0
// What the thread in run() does.

#include <mutex>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"
#include "cluster/agent.hpp"
#include "platform/exact_timers.hpp"

namespace nigh::cluster {
namespace {

using base::now_ns;

}  // namespace

bytes Agent::run(detail::function const& f, bytes input) {
  auto const* const here = nigh::detail::this_stack->worker;
  if (here != nullptr && &here->host == &scheduler())
    throw std::logic_error("nigh::cluster::run called from inside a task");
  {
    std::lock_guard const guard(lock_);
    is_over_.store(false, sync::relaxed);
    engine_.begin();
    running_ = true;
    last_poll_ns_.store(now_ns(), sync::relaxed);
  }
  attended_ = policy::attended_before_run(attended_, Lookout::policy);
  if (rank() == 0)
    put({std::make_unique<Task>(Task{f.id, 0, root_token, true, std::move(input)}), {}});
  {
    platform::ExactTimers const timers;
    while (!is_over_.load(sync::relaxed)) sleep_and_look();
  }
  Outcome root;
  {
    std::lock_guard const guard(lock_);
    running_ = false;
    root = engine_.take_outcome();
  }
  if (is_supervised_) poll();  // for who has found the lock taken
  if (root.failed)
    throw remote_error(
        std::string(reinterpret_cast<char const*>(root.output.data()), root.output.size()),
        root.rank);
  return std::move(root.output);
}

// By the thread in run(), as the next.
void Agent::sleep_and_look() noexcept {
  auto const calls = lookout_.calls();
  if (is_over_.load(sync::relaxed)) return;  // (C)
  bool const is_called = lookout_.sleep(calls, [&] { return how_long_to_sleep(); });
  auto const last = last_poll_ns_.load(sync::relaxed);
  bool const looks_alone = last == own_look_ns_;
  auto const since = now_ns() - last;
  bool const is_attended = policy::was_attended(looks_alone, since, Lookout::policy);
  attended_ = is_attended ? attended_ + 1 : 0;
  if (!funneled_ && !is_called && !policy::looks_itself(looks_alone, since, Lookout::policy))
    return;
  poll();
  own_look_ns_ = last_poll_ns_.load(sync::relaxed);
}

Lookout::Time Agent::how_long_to_sleep() noexcept {
  policy::Surroundings const s{.all_can_ring = all_can_ring_,
                               .is_hungry = ranks() > 1 && is_hungry(),
                               .expects_tasks = expects_tasks_.load(sync::relaxed),
                               .is_moving = is_moving_.load(sync::relaxed),
                               .looks_alone = last_poll_ns_.load(sync::relaxed) == own_look_ns_,
                               .attended = attended_};
  return Lookout::Time(policy::sleep_ns(s, Lookout::policy));
}

}  // namespace nigh::cluster
