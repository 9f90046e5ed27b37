// SPDX-License-Identifier: Apache-2.0
// The queues between a rank's workers and the thread that polls, in the order of steps that
// src/cluster/agent.cpp and src/runtime/worker.cpp take.

#include "cluster/task_queues.hpp"

#include <memory>

#include "letters.hpp"
#include "runtime/parking.hpp"

namespace nigh::model {
namespace {

using cluster::Inbox;
using cluster::Outbox;

struct Rank {
  tasks::Lock lock;
  Outbox outbox;
  std::size_t sent = 0;  // under the lock

  void poll() {
    for (bool again = true; again;) {
      if (!lock.try_lock_in_order()) return;
      if (!outbox.is_empty()) sent += outbox.take_all().messages.size();
      lock.unlock_in_order();
      again = !outbox.is_empty();
    }
  }
};

// Both threads have a message, and one of them may find the lock taken.
Scenario sending() {
  return [](OneRun& run) {
    auto r = std::make_shared<Rank>();
    auto const send = [r] {
      r->outbox.put(1, {});
      r->poll();
    };
    run.threads = {send, send};
    run.at_end = [r] { check(r->sent == 2, "no message waits for another thread's poll"); };
  };
}

// Tasks come and go while a worker falls asleep.
Scenario importing() {
  struct Import {
    Inbox inbox;
    tasks::Parking parking{{{0}}, {{0}}, 1};
  };
  return [](OneRun& run) {
    auto i = std::make_shared<Import>();
    run.threads = {[i] {
                     for (int task = 0; task < 2; ++task) {
                       i->inbox.put({});
                       i->parking.notify(0, tasks::Parking::everywhere);
                     }
                   },
                   [i] {
                     for (int taken = 0; taken < 2;) {
                       Inbox::Item item;
                       i->parking.start_searching(0);
                       while (!i->inbox.take(item)) {
                         i->parking.sleep(0, 0, [&] { return !i->inbox.surely_empty(); });
                         sync::pause();
                       }
                       ++taken;
                       if (i->parking.stop_searching(0) && !i->inbox.surely_empty())
                         i->parking.notify(0, tasks::Parking::everywhere);
                     }
                   }};
  };
}

TEST(TaskQueues, EveryMessageIsSent) { expect_holds(sending(), {.preemptions = 3}); }
TEST(TaskQueues, EveryTaskIsFound) { expect_holds(importing(), {.preemptions = 3}); }
TEST(TaskQueues, SOfTheLock) { expect_needed("lock.S", Order::acq_rel, sending()); }
TEST(TaskQueues, SOfTheInbox) { expect_needed("parking.S", Order::acq_rel, importing()); }

}  // namespace
}  // namespace nigh::model
