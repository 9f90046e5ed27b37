// SPDX-License-Identifier: Apache-2.0
// An owner and thieves around a split task stack: each task runs once, wherever split moves, and
// what it is given and what it makes are seen by whom they are for.

#include <array>
#include <memory>
#include <nigh/detail/task_stack.hpp>
#include <source_location>

#include "letters.hpp"
#include "runtime/parking.hpp"
#include "runtime/stack_help.hpp"

namespace nigh::model {
namespace {

using detail::steal;
using detail::task_slot;
using detail::task_stack;

struct Job {
  Plain input, output;
  int runs = 0;

  void run() {
    check(++runs == 1, "a task ran twice");
    output.set(input.get() + 1);
  }
};

struct Machine {
  explicit Machine(std::uint32_t share_goal = 0, bool may_help = false)
      : somebody_may_help(may_help),
        parking(std::vector<std::vector<int>>{{1, 2}}, std::vector<std::vector<int>>{{0}}, 3) {
    stack.slots = slots.data();
    stack.split.store(slots.data(), sync::relaxed);
    stack.top = slots.data();
    stack.limit = slots.data() + slots.size();
    stack.capacity = static_cast<std::uint32_t>(slots.size());
    stack.share_goal = share_goal;
  }

  void push(int job, int input) {
    jobs[static_cast<std::size_t>(job)].input.set(input);
    stack.top->object = &jobs[static_cast<std::size_t>(job)];
    stack.top = stack.top + 1;
  }

  static void run(task_slot& slot) { static_cast<Job*>(slot.object)->run(); }

  // Without helpers there would be more schedules, but nothing else in them.
  void begin_changing() {
    while (somebody_may_help) {
      stack.begin_changing();
      if (!stack.is_helped()) return;
      stack.end_changing();
      sync::pause();
    }
  }
  void end_changing() {
    if (somebody_may_help) stack.end_changing();
  }
  void publish(std::uint32_t n) {
    begin_changing();
    stack.publish(std::min(n, stack.private_tasks()));
    end_changing();
  }

  // As Worker::finish_top() does.
  enum class Rest : std::uint8_t { awake, asleep, asleep_for_a_time };
  void join(int job, Rest rest = Rest::awake) {
    detail::task_slot* const slot = stack.top - 1;
    begin_changing();
    if (stack.is_private(slot) || stack.reclaim(slot)) {
      void* const object = slot->object;
      stack.top = slot;
      end_changing();
      static_cast<Job*>(object)->run();
    } else {
      end_changing();
      while (!slot->finished()) {
        auto const news = [&] {
          return slot->state.load(sync::seq_cst) == task_slot::done;  // (stack.E) (parking.S)
        };
        if (rest == Rest::asleep) parking.sleep_uncounted(0, news);
        if (rest == Rest::asleep_for_a_time) parking.sleep_uncounted_for(0, 1'000'000'000, news);
        sync::pause();
      }
      begin_changing();
      stack.drop_stolen(slot);
      end_changing();
    }
    auto const& done = jobs[static_cast<std::size_t>(job)];
    check(done.output.get() == done.input.get() + 1, "the joiner has the task's result");
  }

  // As fork_join() does.
  void pop(int job) {
    detail::task_slot* const slot = stack.top - 1;
    if (!stack.pop(slot)) return join(job);
    run(*slot);
  }
  void help() {
    tasks::publish_for_owner(
        stack, [](std::source_location w = std::source_location::current()) {
          fence(w);
          return true;
        });
  }

  // One attempt of the thief in this thread slot.
  bool steal_and_run(std::uint32_t thread_slot, std::uint32_t most = 1) {
    task_stack::range got;
    auto const chunk = [&](std::uint32_t waiting) { return std::min(waiting, most); };
    if (stack.take(thread_slot, got, chunk) != steal::taken) return false;
    for (std::uint32_t i = 0; i < got.count; ++i) {
      run(got.first[i]);
      got.first[i].finish();
      parking.wake(0, -1);
    }
    return true;
  }

  bool const somebody_may_help;
  std::array<task_slot, 4> slots{};
  std::array<Job, 4> jobs;
  task_stack stack;
  tasks::Parking parking;
};

// One shared task, wanted by its owner and by a thief.
Scenario last_task() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>();
    run.threads = {[m] {
                     m->push(0, 1);
                     m->publish(1);
                     m->join(0);
                     check(m->stack.top == m->stack.slots, "all is taken off");
                   },
                   [m] { m->steal_and_run(1); }};
  };
}

// Split moves up, down and up again, over slots that were stolen from before.
Scenario moving_split(std::uint32_t most) {
  return [most](OneRun& run) {
    auto m = std::make_shared<Machine>(1);
    run.threads = {[m] {
                     m->push(0, 1);
                     m->push(1, 2);
                     m->publish(2);
                     m->join(1);
                     m->push(2, 3);
                     m->publish(m->stack.private_tasks());
                     m->join(2);
                     m->join(0);
                     check(m->stack.top == m->stack.slots, "all is taken off");
                   },
                   [m, most] {
                     m->steal_and_run(1, most);
                     m->steal_and_run(1, most);
                   }};
  };
}

Scenario two_thieves() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>();
    run.threads = {[m] {
                     m->push(0, 1);
                     m->push(1, 2);
                     m->publish(2);
                     m->join(1);
                     m->join(0);
                   },
                   [m] { m->steal_and_run(1); }, [m] { m->steal_and_run(2); }};
  };
}

// A slot that was stolen from is used again: the second thief sees the second task.
Scenario used_again() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>();
    run.threads = {[m] {
                     for (int job : {0, 1}) {
                       m->push(job, job);
                       m->publish(1);
                       m->join(job);
                     }
                   },
                   [m] { m->steal_and_run(1); }, [m] { m->steal_and_run(2); }};
  };
}

// The joiner sleeps until the thief wakes it.
Scenario joining_asleep(Machine::Rest rest = Machine::Rest::asleep) {
  return [rest](OneRun& run) {
    auto m = std::make_shared<Machine>();
    run.threads = {[m, rest] {
                     m->push(0, 1);
                     m->publish(1);
                     m->join(0, rest);
                   },
                   [m] { m->steal_and_run(1); }};
  };
}

// A thief that goes to sleep is woken for what is published meanwhile; the owner never joins it
// alone, so a forgotten sleeper is a deadlock.
Scenario thief_asleep() {
  return [](OneRun& run) {
    auto m = std::make_shared<Machine>();
    run.threads = {[m] {
                     m->push(0, 1);
                     m->publish(1);
                     m->parking.notify(0, tasks::Parking::everywhere);
                     while (!m->slots[0].finished()) sync::pause();
                     m->join(0);
                   },
                   [m] {
                     m->parking.start_searching(0);
                     while (!m->steal_and_run(1)) {
                       m->parking.sleep(1, 0, [&] { return m->stack.has_shared(); });
                       sync::pause();
                     }
                     m->parking.stop_searching(0);
                   }};
  };
}

// Another thread shares in the owner's place, and then steals.
template <class Owner>
Scenario beside_a_helper(Owner owner) {
  return [owner](OneRun& run) {
    auto m = std::make_shared<Machine>(0, true);
    run.threads = {[m, owner] {
                     owner(*m);
                     check(m->stack.top == m->stack.slots, "all is taken off");
                   },
                   [m] {
                     m->help();
                     m->steal_and_run(1);
                   }};
  };
}

Scenario helped() {
  return beside_a_helper([](Machine& m) {
    m.push(0, 1);
    m.push(1, 2);
    m.pop(1);
    m.pop(0);
  });
}

// The same of an owner that reads what it takes off, and then uses the slot again.
Scenario helped_at_a_scope() {
  return beside_a_helper([](Machine& m) {
    m.push(0, 1);
    m.join(0);
    m.push(1, 2);
    m.join(1);
  });
}

// An owner that publishes and takes back meanwhile.
Scenario helped_while_sharing() {
  return beside_a_helper([](Machine& m) {
    m.push(0, 1);
    m.push(1, 2);
    m.publish(1);
    m.pop(1);
    m.pop(0);
  });
}

TEST(TaskStack, EachTaskRunsOnce) {
  expect_holds(last_task(), {.preemptions = 4});
  expect_holds(moving_split(1), {.preemptions = 3});
  expect_holds(moving_split(2), {.preemptions = 3});
  expect_holds(two_thieves(), {.preemptions = 3});
  expect_holds(used_again(), {.preemptions = 3});
}

TEST(TaskStack, EachTaskRunsOnceWhereAnotherThreadPublishes) {
  expect_holds(helped(), {.preemptions = 3});
  expect_holds(helped_at_a_scope(), {.preemptions = 3});
  expect_holds(helped_while_sharing(), {.preemptions = 3});
}

TEST(TaskStack, NobodySleepsOverATask) {
  expect_holds(joining_asleep(), {.preemptions = 3});
  expect_holds(joining_asleep(Machine::Rest::asleep_for_a_time), {.preemptions = 3});
  expect_holds(thief_asleep(), {.preemptions = 3});
}

TEST(TaskStack, C) { expect_needed("stack.C", Order::relaxed, last_task()); }
TEST(TaskStack, E) { expect_needed("stack.E", Order::relaxed, last_task()); }
TEST(TaskStack, A) { expect_needed("stack.A", Order::relaxed, helped()); }
TEST(TaskStack, B) { expect_needed("stack.B", Order::relaxed, helped_at_a_scope()); }
TEST(TaskStack, P) { expect_needed("stack.P", Order::relaxed, helped()); }
TEST(TaskStack, SOfTheJoiner) { expect_needed("parking.S", Order::acq_rel, joining_asleep()); }
TEST(TaskStack, SOfTheJoinerForATime) {
  expect_needed("parking.S", Order::acq_rel, joining_asleep(Machine::Rest::asleep_for_a_time));
}
TEST(TaskStack, SOfTheThief) { expect_needed("parking.S", Order::acq_rel, thief_asleep()); }

}  // namespace
}  // namespace nigh::model
