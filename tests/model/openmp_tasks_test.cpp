// SPDX-License-Identifier: Apache-2.0
// The lock-free parts of OpenMP tasks (src/openmp/tasks) beside their deque: a thread that waits for children sees what
// they did, descriptors come back once, nobody sleeps over news.

#include <array>
#include <memory>

#include "letters.hpp"
#include "openmp/tasks/meeting.hpp"
#include "openmp/tasks/sleeper.hpp"
#include "openmp/tasks/task.hpp"
#include "openmp_around_deque.hpp"

namespace nigh::model {
namespace {

// A parent that waits for its child, which another thread runs; then its own end, and the child's
// children: exactly one gives each descriptor back.
struct Family {
  Task parent{}, child{};
  Plain result;
  int parent_returned = 0, child_returned = 0;

  Family() {
    for (Task* t : {&parent, &child}) {
      t->own = 0;
      t->others.store(Task::running, sync::relaxed);
    }
    parent.own = Task::child;
  }
};

Scenario waiting_for_a_child() {
  return [](OneRun& run) {
    auto f = std::make_shared<Family>();
    run.threads = {[f] {
                     while (!f->parent.is_childless()) sync::pause();
                     check(f->result.get() == 7, "the child's result is seen");
                     f->result.set(8);
                   },
                   [f] {
                     f->result.set(7);
                     f->parent.count_down(Task::child);
                   }};
  };
}

// The parent ends without waiting; whoever is last returns its descriptor, and may use it anew.
Scenario ending_before_a_child() {
  return [](OneRun& run) {
    auto f = std::make_shared<Family>();
    run.threads = {[f] {
                     f->result.set(1);
                     if (f->parent.end_body()) {
                       ++f->parent_returned;
                       f->result.set(2);
                     }
                   },
                   [f] {
                     f->child.own = 0;
                     if (f->parent.count_down(Task::child)) {
                       ++f->parent_returned;
                       f->result.set(3);
                     }
                   }};
    run.at_end = [f] { check(f->parent_returned == 1, "the descriptor comes back once"); };
  };
}

// Two threads give descriptors back, and their owner takes them meanwhile.
Scenario coming_home() {
  struct Home {
    Returned<> returned;
    std::array<Task, 2> tasks{};
    std::array<Plain, 2> contents;
    int got = 0;
  };
  return [](OneRun& run) {
    auto h = std::make_shared<Home>();
    auto const give = [h](std::size_t i) {
      h->contents[i].set(1);
      h->returned.give_back(&h->tasks[i]);
    };
    auto const take = [h] {
      for (Task* t = h->returned.take_all(); t != nullptr;) {
        Task* const next = t->parent.load(sync::relaxed);
        h->contents[static_cast<std::size_t>(t - h->tasks.data())].set(2);
        ++h->got;
        t = next;
      }
    };
    run.threads = {[take] {
                     take();
                     take();
                   },
                   [give] { give(0); }, [give] { give(1); }};
    run.at_end = [h, take] {
      take();
      check(h->got == 2, "each descriptor comes back once");
    };
  };
}

// A thread at a barrier sleeps while another publishes the region's first task.
Scenario asleep_at_a_barrier() {
  struct Barrier {
    Around around;
    EverShared ever_shared;
    Sleeper sleeper;
    sync::atomic<std::uint32_t> sleepers{0};
  };
  return [](OneRun& run) {
    auto b = std::make_shared<Barrier>();
    run.threads = {[b] {
                     b->around.push(0);
                     b->ever_shared.note();
                     b->around.deque.publish();
                     if (b->sleepers.load(sync::seq_cst) != 0) b->sleeper.wake();  // (sleeper.S)
                   },
                   [b] {
                     while (!b->around.steal()) {
                       b->sleeper.sleep(b->sleepers, [b] {
                         return b->ever_shared.is_so_before_wait() && b->around.deque.has_shared();
                       });
                       sync::pause();
                     }
                   }};
    run.at_end = [b] { check(b->around.ran() == 1, "the task ran"); };
  };
}

// A thread sleeps in a taskwait while another ends the child.
Scenario asleep_in_a_taskwait() {
  struct Waiting {
    Family family;
    Sleeper sleeper;
    sync::atomic<std::uint32_t> sleepers{0};
  };
  return [](OneRun& run) {
    auto w = std::make_shared<Waiting>();
    run.threads = {[w] {
                     while (!w->family.parent.is_childless())
                       w->sleeper.sleep(w->sleepers, [w] { return w->family.parent.is_childless(); });
                     check(w->family.result.get() == 7, "the child's result is seen");
                   },
                   [w] {
                     w->family.result.set(7);
                     w->family.parent.count_down(Task::child);
                     w->sleeper.wake();
                   }};
  };
}

// A task that was put off goes on by another thread, and sleeps there in a taskwait while its child ends.
Scenario asleep_after_it_was_put_off() {
  struct Waiting {
    Family family;
    std::array<Sleeper, 2> sleepers{};  // of the two threads that run it
    sync::atomic<std::uint32_t> asleep{0};
    sync::atomic<int> is_put_off{0};

    // Only compared here.
    Member* member(std::size_t i) { return reinterpret_cast<Member*>(&sleepers[i]); }
    void wake(Member* m) {
      for (std::size_t i = 0; i < 2; ++i)
        if (m == member(i)) sleepers[i].wake();
    }
  };
  return [](OneRun& run) {
    auto w = std::make_shared<Waiting>();
    w->family.parent.owner.store(w->member(0), sync::relaxed);
    run.threads = {[w] {
                     w->family.parent.put_off();
                     w->is_put_off.store(1, sync::release);
                   },
                   [w] {
                     while (w->is_put_off.load(sync::acquire) == 0) sync::pause();
                     w->family.parent.go_on(*w->member(1));
                     while (!w->family.parent.is_childless())
                       w->sleepers[1].sleep(w->asleep, [w] { return w->family.parent.is_childless(); });
                     check(w->family.result.get() == 7, "the child's result is seen");
                   },
                   [w] {
                     w->family.result.set(7);
                     w->family.parent.count_down(Task::child);
                     w->wake(w->family.parent.owner_after_count());
                   }};
  };
}

// The sleeper sees all that the waker did before, also where nothing else says so.
Scenario handed_over() {
  struct Handing {
    Sleeper sleeper;
    sync::atomic<std::uint32_t> sleepers{0};
    Plain value;
  };
  return [](OneRun& run) {
    auto h = std::make_shared<Handing>();
    run.threads = {[h] {
                     h->sleeper.sleep(h->sleepers, [] { return false; });
                     check(h->value.get() == 1, "what the waker did is seen");
                   },
                   [h] {
                     h->value.set(1);
                     while (!h->sleeper.wake()) sync::pause();
                   }};
  };
}

// The body of a detachable task ends, and its event comes.
Scenario both_ends() {
  struct Detached {
    BothEnds ends;
    std::array<Plain, 2> did;
    int completed = 0;
  };
  return [](OneRun& run) {
    auto d = std::make_shared<Detached>();
    auto const come = [d](std::size_t i) {
      d->did[i].set(1);
      if (!d->ends.is_second()) return;
      ++d->completed;
      check(d->did[1 - i].get() == 1, "what the first did is seen");
    };
    run.threads = {[come] { come(0); }, [come] { come(1); }};
    run.at_end = [d] { check(d->completed == 1, "the task is completed once"); };
  };
}

TEST(OpenMPTasks, EachDescriptorComesBackOnce) {
  expect_holds(waiting_for_a_child(), {.preemptions = 3});
  expect_holds(ending_before_a_child(), {.preemptions = 3});
  expect_holds(coming_home(), {.preemptions = 3});
  expect_holds(both_ends(), {.preemptions = 4});
}

TEST(OpenMPTasks, NobodySleepsOverNews) {
  expect_holds(asleep_at_a_barrier(), {.preemptions = 3});
  expect_holds(asleep_in_a_taskwait(), {.preemptions = 3});
  expect_holds(asleep_after_it_was_put_off(), {.preemptions = 3});
  expect_holds(handed_over(), {.preemptions = 3});
}

TEST(OpenMPTasks, KOfTheWait) { expect_needed("task.K", Order::relaxed, waiting_for_a_child()); }
TEST(OpenMPTasks, KOfTheEnd) { expect_needed("task.K", Order::relaxed, ending_before_a_child()); }
TEST(OpenMPTasks, F) { expect_needed("task.F", Order::relaxed, coming_home()); }
TEST(OpenMPTasks, SOfTheThief) { expect_needed("sleeper.S", Order::acq_rel, asleep_at_a_barrier()); }
TEST(OpenMPTasks, SOfTheWait) { expect_needed("sleeper.S", Order::acq_rel, asleep_in_a_taskwait()); }
TEST(OpenMPTasks, O) { expect_needed("task.O", Order::acq_rel, asleep_after_it_was_put_off()); }
TEST(OpenMPTasks, W) { expect_needed("sleeper.W", Order::relaxed, handed_over()); }
TEST(OpenMPTasks, V) { expect_needed("task.V", Order::relaxed, both_ends()); }

}  // namespace
}  // namespace nigh::model
