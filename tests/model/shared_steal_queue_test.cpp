// SPDX-License-Identifier: Apache-2.0
#include "cluster/shared_steal_queue.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

constexpr std::uint32_t this_run = 3, next_run = 4;

struct Shared {
  // The next task, if there is room.
  void put(std::uint32_t run = this_run) {
    if (queue.put(Plain(put_so_far), run)) ++put_so_far;
  }

  // One visit, for up to two.
  cluster::Take take(std::uint32_t run = this_run) {
    std::array<Plain, 2> out;
    std::size_t taken = 0;
    auto const outcome = queue.take(out, taken, run, [](std::size_t n) { return n; });
    check((outcome == cluster::Take::taken) == (taken > 0), "a thief got something");
    for (std::size_t i = 0; i < taken; ++i) ++seen[static_cast<std::size_t>(out[i].get())];
    check(taken < 2 || out[0].get() < out[1].get(), "oldest first");
    return outcome;
  }

  // The rest of the tasks, and a check that each came once.
  void finish() {
    while (take() == cluster::Take::taken) {
    }
    check(queue.is_empty(), "nothing is left");
    for (int i = 0; i < put_so_far; ++i)
      check(seen[static_cast<std::size_t>(i)] == 1, "each task once");
  }

  cluster::SharedStealQueue<Plain, 2> queue;
  int put_so_far = 0;
  std::array<int, 8> seen{};
};

// Two slots, three tasks, and thieves: slots are used again.
Scenario robbing(int thieves) {
  return [thieves](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] {
      for (int i = 0; i < 3; ++i) s->put();
    }};
    for (int t = 0; t < thieves; ++t) run.threads.push_back([s] { s->take(); });
    run.at_end = [s] { s->finish(); };
  };
}

// The owner takes back what a neighbour is after.
Scenario taking_back() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] {
                     s->put();
                     s->put();
                     s->take();
                     s->put();
                     s->take();
                   },
                   [s] {
                     s->take();
                     s->take();
                   }};
    run.at_end = [s] { s->finish(); };
  };
}

// Nobody takes tasks of another run, whatever it has seen of the queue before.
Scenario changing_runs() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] {
                     s->put();
                     while (s->seen[0] == 0) {
                       s->take();
                       sync::pause();
                     }
                     s->put(next_run);
                   },
                   [s] {
                     s->take();
                     s->take();
                   }};
    run.at_end = [s] {
      check(s->seen[1] == 0, "a task came in another run");
      check(s->take(next_run) == cluster::Take::taken, "the next run's task is lost");
    };
  };
}

TEST(SharedStealQueue, LosesNothingWithTwoThieves) { expect_holds(robbing(2), {.preemptions = 3}); }
TEST(SharedStealQueue, LosesNothingWithThreeThieves) { expect_holds(robbing(3)); }
TEST(SharedStealQueue, GivesItsOwnerBackWhatNobodyTook) {
  expect_holds(taking_back(), {.preemptions = 4});
}
TEST(SharedStealQueue, KeepsRunsApart) { expect_holds(changing_runs(), {.preemptions = 3}); }

TEST(SharedStealQueue, P) { expect_needed("steal_queue.P", Order::relaxed, robbing(1)); }
TEST(SharedStealQueue, R) { expect_needed("steal_queue.R", Order::relaxed, robbing(2)); }

}  // namespace
}  // namespace nigh::model
