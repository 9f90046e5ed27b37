// SPDX-License-Identifier: Apache-2.0
// The deque of OpenMP tasks: each task is taken once and seen whole.

#include <memory>

#include "letters.hpp"
#include "openmp_around_deque.hpp"

namespace nigh::model {
namespace {

// The owner takes back what a thief wants.
Scenario last_task() {
  return [](OneRun& run) {
    auto a = std::make_shared<Around>();
    run.threads = {[a] {
                     a->push(0);
                     a->deque.publish();
                     a->pop();
                   },
                   [a] { a->steal(); }};
    run.at_end = [a] { check(a->ran() == 1, "the task ran"); };
  };
}

// A task is taken back and another put in its place while a thief holds the first.
template <class Deque = TaskDeque<Job, 4>>
Scenario another_in_its_place(std::uint32_t most) {
  return [most](OneRun& run) {
    auto a = std::make_shared<AroundA<Deque>>();
    run.threads = {[a] {
                     a->push(0);
                     a->push(1);
                     a->deque.publish_all();
                     a->pop();
                     a->push(2);
                     a->deque.publish_all();
                     while (a->pop()) {
                     }
                   },
                   [a, most] {
                     a->steal(most);
                     a->steal(most);
                   }};
    run.at_end = [a] { check(a->ran() == 3, "every task ran"); };
  };
}

Scenario two_thieves() {
  return [](OneRun& run) {
    auto a = std::make_shared<Around>();
    run.threads = {[a] {
                     a->push(0);
                     a->push(1);
                     a->deque.publish_all();
                     while (a->pop()) {
                     }
                   },
                   [a] { a->steal(); }, [a] { a->steal(); }};
    run.at_end = [a] { check(a->ran() == 2, "every task ran"); };
  };
}

// A thief publishes for the owner, which pops meanwhile.
Scenario helped_while_it_pops() {
  return [](OneRun& run) {
    auto a = std::make_shared<Around>();
    run.threads = {[a] {
                     a->push(0);
                     a->push(1);
                     while (a->pop()) {
                     }
                   },
                   [a] {
                     if (a->help()) a->steal();
                     a->steal();
                   }};
    run.at_end = [a] { check(a->ran() == 2, "every task ran once"); };
  };
}

// The same while the owner publishes, and puts a new task where one was.
Scenario helped_while_it_publishes() {
  return [](OneRun& run) {
    auto a = std::make_shared<Around>();
    run.threads = {[a] {
                     a->push(0);
                     a->deque.publish();
                     a->push(1);
                     a->pop();
                     a->push(2);
                     a->deque.publish_all();
                     while (a->pop()) {
                     }
                   },
                   [a] {
                     a->help();
                     a->steal();
                     a->help();
                     a->steal();
                   }};
    run.at_end = [a] { check(a->ran() == 3, "every task ran once"); };
  };
}

// The owner is away: two thieves help, and get all that it has left.
Scenario helped_while_it_is_away() {
  return [](OneRun& run) {
    auto a = std::make_shared<Around>();
    auto const thief = [a] {
      if (a->help()) a->steal();
      a->steal();
    };
    run.threads = {[a] {
                     a->push(0);
                     a->push(1);
                   },
                   thief, thief};
    run.at_end = [a] {
      while (a->pop()) {
      }
      check(a->ran() == 2, "every task ran once");
    };
  };
}

// The ring goes around: places are written anew as soon as there is room.
Scenario around_the_ring() {
  return [](OneRun& run) {
    auto a = std::make_shared<Around>();
    a->deque.begin(2, false);
    run.threads = {[a] {
                     int put = 0;
                     for (int job = 0; job < 4; ++job) {
                       if (a->push(job)) ++put;
                       a->deque.publish_all();
                     }
                     while (a->pop()) {
                     }
                     check(put >= 2, "there was room");
                   },
                   [a] {
                     a->steal();
                     a->steal();
                   }};
  };
}

// A place in the ring that is no atomic word: a thief that still reads it races with the owner that
// writes it anew. The owner takes nothing back here, so what a single thief reads, it takes.
struct PlainPlace {
  Plain accesses;
  Job* job = nullptr;

  Job* load(Order /*unused*/) const {
    static_cast<void>(accesses.get());
    return job;
  }
  void store(Job* j, Order /*unused*/) {
    accesses.set(1);
    job = j;
  }
};

Scenario written_anew() {
  return [](OneRun& run) {
    auto a = std::make_shared<AroundA<TaskDeque<Job, 2, PlainPlace>>>();
    run.threads = {[a] {
                     for (int job = 0; job < 4; ++job) {
                       a->push(job);
                       a->deque.publish_all();
                     }
                   },
                   [a] {
                     a->steal();
                     a->steal();
                   }};
  };
}

TEST(OpenMPDeque, EachTaskRunsOnce) {
  expect_holds(last_task(), {.preemptions = 4});
  expect_holds(another_in_its_place(1), {.preemptions = 3});
  expect_holds(another_in_its_place(2), {.preemptions = 3});
  expect_holds(two_thieves(), {.preemptions = 3});
  expect_holds(around_the_ring(), {.preemptions = 3});
  expect_holds(written_anew(), {.preemptions = 3});
  expect_holds(helped_while_it_pops(), {.preemptions = 3});
  expect_holds(helped_while_it_publishes(), {.preemptions = 2});
  expect_holds(helped_while_it_is_away(), {.preemptions = 2});
}

TEST(OpenMPDeque, C) { expect_needed("deque.C", Order::relaxed, last_task()); }
TEST(OpenMPDeque, R) { expect_needed("deque.R", Order::relaxed, written_anew()); }
TEST(OpenMPDeque, V) { expect_needed("deque.V", Order::relaxed, another_in_its_place(1)); }
// No order, but a count: a deque that counts no changes is caught.
TEST(OpenMPDeque, N) {
  using Uncounted = TaskDeque<Job, 4, sync::atomic<Job*>, 0>;
  auto const out = explore({.preemptions = 3}, another_in_its_place<Uncounted>(1));
  EXPECT_NE(out.failure, "") << "nothing breaks without (deque.N) in " << out.runs << " schedules";
}
TEST(OpenMPDeque, A) { expect_needed("deque.A", Order::acq_rel, helped_while_it_pops()); }
TEST(OpenMPDeque, B) { expect_needed("deque.B", Order::acq_rel, helped_while_it_publishes()); }
TEST(OpenMPDeque, BOfTheLoads) {
  expect_needed("deque.B", Order::relaxed, helped_while_it_publishes());
}
TEST(OpenMPDeque, P) { expect_needed("deque.P", Order::relaxed, helped_while_it_is_away()); }

}  // namespace
}  // namespace nigh::model
