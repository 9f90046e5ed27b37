// SPDX-License-Identifier: Apache-2.0
// Work stealing in virtual time: the tasks, the queues, the run, and what it says when it is stuck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>

#include "machines.hpp"
#include "sim/random.hpp"
#include "sim/steal/steal_run.hpp"
#include "sim/steal/studies.hpp"
#include "sim/steal/task_forest.hpp"

namespace nigh::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

StealMachine machine_of(std::string const& name, int workers = 0) {
  return steal_machine(tests::machine(name.c_str()), workers).value();
}

StealOutcome run(TaskForest const& forest, StealMachine const& machine, StealRules const& rules,
                 std::uint64_t seed = 1) {
  return StealRun(forest, machine, rules, seed).run().value();
}

TEST(TaskForest, HasTheTasksThatThePaperCounted) {
  EXPECT_EQ(fib_tasks(30).tasks(), 2'692'537u);
  EXPECT_EQ(queens_tasks(14, 6).tasks(), 306'719u);
  EXPECT_EQ(sparselu_tasks(256).tasks(), 1'430'912u);
  EXPECT_EQ(paper_tasks("T1-tiny").tasks(), 3'987u);
  EXPECT_EQ(paper_tasks("T3-tiny").tasks(), 4'649u);
  EXPECT_EQ(paper_tasks("oak").tasks(), 0u);
}

TEST(TaskForest, HasThePapersMeanTimes) {
  auto const mean_ns = [](TaskForest const& f) {
    Time before = 0;
    for (auto const& phase : f.phases) before += phase.before_ns;
    return static_cast<double>(f.work() - before) / static_cast<double>(f.tasks());
  };
  EXPECT_DOUBLE_EQ(mean_ns(fib_tasks(20)), 1163 + 172);
  EXPECT_NEAR(mean_ns(queens_tasks(10, 4)), 23270 + 174, 1);
  EXPECT_NEAR(mean_ns(sparselu_tasks(50)), 6281 + 166, 1);
  EXPECT_DOUBLE_EQ(mean_ns(paper_tasks("T3-tiny")), 75 + 159);
}

TEST(TaskForest, ChildrenFollowTheirParent) {
  auto const f = fib_tasks(4);  // 4 -> 3 (-> 2 (-> 1, 0), 1), 2 (-> 1, 0)
  std::vector<TaskId> children;
  f.for_children(0, [&](TaskId t) { children.push_back(t); });
  EXPECT_THAT(children, ::testing::ElementsAre(1u, 6u));
  EXPECT_THAT(f.size, ::testing::ElementsAre(9u, 5u, 3u, 1u, 1u, 1u, 3u, 1u, 1u));
}

TEST(SplitQueue, HoldsWhatASimplerOneHolds) {
  Random random(5);
  SplitQueue queue;
  std::deque<TaskId> shared, owned;  // oldest first
  for (TaskId next = 0; next < 50'000; ++next) {
    switch (random.below(6)) {
      case 0:
      case 1:
      case 2:
        queue.push(next);
        owned.push_back(next);
        break;
      case 3:
        if (owned.empty()) break;
        ASSERT_EQ(queue.newest(), owned.back());
        ASSERT_EQ(queue.pop(), owned.back());
        owned.pop_back();
        break;
      case 4: {
        auto const wanted = static_cast<std::uint32_t>(
            random.below(static_cast<int>(shared.size() + owned.size()) + 1));
        queue.share(wanted);
        for (; shared.size() < wanted; owned.pop_front()) shared.push_back(owned.front());
        auto const back = shared.size() - shared.size() / 2;
        if (random.below(2) == 0) break;
        queue.take_back(static_cast<std::uint32_t>(back));
        for (std::size_t i = 0; i < back; ++i, shared.pop_back()) owned.push_front(shared.back());
        break;
      }
      default: {
        auto const n =
            static_cast<std::uint32_t>(random.below(static_cast<int>(shared.size()) + 1));
        SplitQueue thief;
        queue.give(n, thief);
        ASSERT_EQ(thief.owned(), n);
        std::vector<TaskId> taken(shared.begin(), shared.begin() + n);
        shared.erase(shared.begin(), shared.begin() + n);
        for (; !taken.empty(); taken.pop_back()) ASSERT_EQ(thief.pop(), taken.back());
      }
    }
    ASSERT_EQ(queue.shared(), shared.size());
    ASSERT_EQ(queue.owned(), owned.size());
  }
}

TEST(StealMachine, IsWhatTheFileSays) {
  auto const carver = machine_of("carver-32x8");
  EXPECT_EQ(carver.workers(), 256);
  EXPECT_EQ(carver.hosts(), 32);
  ASSERT_EQ(carver.rungs.size(), 3u);
  EXPECT_EQ(carver.plan.levels[2].attempts, 4 * 8);
  EXPECT_FALSE(carver.rungs[1].crosses_hosts);
  EXPECT_TRUE(carver.rungs[2].crosses_hosts);
  EXPECT_EQ(machine_of("carver-32x8", 100).workers(), 104);  // whole hosts
  EXPECT_EQ(machine_of("carver-32x8", 8).rungs.size(), 2u);
  EXPECT_EQ(machine_of("cluster-4096").workers(), 1 << 20);
  EXPECT_THAT(steal_machine(tests::machine("carver-32x8"), 257).message(),
              HasSubstr("has 256 cpus, not 257"));
  EXPECT_THAT(steal_machine(tests::machine("sun-x4600")).message(), HasSubstr("\"levels\""));
}

TEST(StealRun, OneWorkerTakesTheTimeOfItsTasks) {
  auto const f = fib_tasks(12);
  auto const alone = run(f, machine_of("nehalem-2x4", 1), {});
  EXPECT_EQ(alone.tasks, f.tasks());
  EXPECT_EQ(alone.makespan, f.work());  // nobody is near, so its own lock costs nothing
  EXPECT_EQ(alone.steals, 0u);
}

TEST(StealRun, ChargesWhatTheMachineSaysOfMakingATask) {
  auto const f = fib_tasks(12);
  auto machine = machine_of("nehalem-2x4", 1);
  EXPECT_FALSE(machine.spawn_ns.has_value());  // what the paper says of fib counts
  machine.spawn_ns = 2;
  auto const alone = run(f, machine, {});
  EXPECT_EQ(alone.makespan, static_cast<Time>(f.tasks()) * (f.each_ns + 2));
  EXPECT_EQ(efficiency(f, machine, alone), 1);
}

// Two tasks of a phase and two workers far apart: the second task is run by the thief.
TEST(StealRun, AStealTakesWhatItsPartsTake) {
  TaskForest f;
  f.size = {1, 1};
  f.each_ns = 1'000'000;
  f.bytes = 84;
  f.phases = {{0, 2, 0}};
  auto machine = machine_of("carver-32x8", 16);
  StealRules rules;
  rules.victims = policy::VictimChoice::ring;
  auto const all = run(f, machine, rules);
  EXPECT_EQ(all.steals, 1u);
  EXPECT_GE(all.makespan, f.each_ns + machine.rungs[0].steal_of(100));
  EXPECT_LE(all.makespan, f.each_ns + 5 * machine.rungs[2].steal_of(100));  // some probes before
}

TEST(StealRun, RunsEachTaskOnceWhateverTheRules) {
  auto const machine = machine_of("carver-32x8", 64);
  for (auto const* name : {"T1-tiny", "T3-tiny"}) {
    auto const f = paper_tasks(name);
    for (auto way : hotslaw_ways()) {
      for (Time pause : {0, 500}) {
        way.rules.pause = {pause, 8000};
        way.rules.shared_part = pause == 0 ? 0.5 : 1;
        auto const all = run(f, machine, way.rules);
        EXPECT_EQ(all.tasks, f.tasks()) << name << ' ' << way.name;
        EXPECT_GE(all.makespan * machine.workers(), f.work());
        EXPECT_GT(all.steals, 0u);
        EXPECT_GE(all.stolen, all.steals);
      }
    }
  }
  auto const f = sparselu_tasks(20);
  EXPECT_EQ(run(f, machine, {}).tasks, f.tasks());
}

TEST(StealRun, TakesAFixedNumberWholeOrNotAtAll) {
  auto const machine = machine_of("carver-32x8", 64);
  auto const f = paper_tasks("T3-tiny");
  StealRules rules;
  rules.chunks = policy::ChunkChoice::one;
  rules.fixed = 4;
  auto const parts = run(f, machine, rules);
  EXPECT_EQ(parts.tasks, f.tasks());
  EXPECT_LT(parts.stolen, 4 * parts.steals);
  rules.whole_chunks = true;
  auto const whole = run(f, machine, rules);
  EXPECT_EQ(whole.tasks, f.tasks());
  EXPECT_GT(whole.steals, 0u);
  EXPECT_EQ(whole.stolen, 4 * whole.steals);
}

// A root of three tasks on one worker: what fits is made, and costs that; the third is not.
TEST(StealRun, RunsInlineWhatAFullQueueHasNoRoomFor) {
  TaskForest f;
  f.size = {4, 1, 1, 1};
  f.each_ns = 1000;
  f.spawn_ns = 100;
  f.phases = {{0, 4, 0}};
  auto const alone = machine_of("nehalem-2x4", 1);
  StealRules rules;
  EXPECT_EQ(run(f, alone, rules).run_inline, 0u);
  EXPECT_EQ(run(f, alone, rules).makespan, 4 * 1100 + alone.own_lock_ns());
  rules.queue_cutoff = 2;
  auto const bounded = run(f, alone, rules);
  EXPECT_EQ(bounded.tasks, 4u);
  EXPECT_EQ(bounded.run_inline, 1u);
  EXPECT_EQ(bounded.makespan, 4 * 1000 + 3 * 100 + alone.own_lock_ns());
}

TEST(StealRun, RunsEachTaskOnceWhateverTheQueuesBound) {
  auto const machine = machine_of("carver-32x8", 64);
  auto const lu = sparselu_tasks(20);
  for (int cutoff : {1, 2, 7, 100}) {
    for (auto way : hotslaw_ways()) {
      way.rules.queue_cutoff = cutoff;
      for (auto const& f : {paper_tasks("T1-tiny"), paper_tasks("T3-tiny"), lu}) {
        auto const all = run(f, machine, way.rules);
        EXPECT_EQ(all.tasks, f.tasks()) << f.name << ' ' << way.name << ' ' << cutoff;
        EXPECT_EQ(run(f, machine, way.rules), all);
        EXPECT_GE(all.run_inline, cutoff == 1 ? 1u : 0u) << f.name << ' ' << way.name;
      }
    }
  }
}

// With one submitter all others live on what they steal.
TEST(StealRun, EachWorkerSubmitsItsPartWhereQueuesAreBounded) {
  auto const machine = machine_of("nehalem-2x4");
  auto f = sparselu_tasks(40);
  StealRules rules;
  rules.queue_cutoff = 8;
  auto const in_parts = run(f, machine, rules);
  f.any_submits = false;
  auto const by_one = run(f, machine, rules);
  EXPECT_EQ(in_parts.tasks, by_one.tasks);
  EXPECT_LT(in_parts.steals * 2, by_one.steals);
  EXPECT_GT(in_parts.run_inline, by_one.run_inline);
}

TEST(StealRun, WithBoundedQueuesThatCannotGoOnSaysSo) {
  auto const machine = machine_of("nehalem-2x4");
  StealRules rules;
  rules.queue_cutoff = 8;
  for (auto const& f : {fib_tasks(18), sparselu_tasks(40)}) {
    auto const stuck = StealRun(f, machine, rules, 1, {0, 20'000}).run();
    ASSERT_FALSE(stuck.ok()) << f.name;
    EXPECT_THAT(stuck.message(), HasSubstr("worker 0: halted, "));
  }
}

TEST(StealRun, IsTheSameForTheSameSeed) {
  auto const machine = machine_of("carver-32x8", 64);
  auto const f = paper_tasks("T3-tiny");
  auto const first = run(f, machine, {}, 7);
  EXPECT_EQ(run(f, machine, {}, 7), first);
  EXPECT_NE(run(f, machine, {}, 8), first);
}

TEST(StealRun, ThievesWithoutLuckRest) {
  TaskForest f;  // one long task, which is nobody else's
  f.size = {1};
  f.each_ns = 1'000'000;
  f.phases = {{0, 1, 0}};
  auto const machine = machine_of("nehalem-2x4");
  StealRules rules;
  auto const busy = run(f, machine, rules);
  rules.pause = {1000, 64'000};
  auto const resting = run(f, machine, rules);
  EXPECT_GT(busy.probes, 7u * 3000u);  // one in 300 ns at most
  EXPECT_LT(resting.probes * 10, busy.probes);
  EXPECT_EQ(resting.makespan, busy.makespan);
}

TEST(StealRun, ThatCannotGoOnTellsWhatEachWorkerDoes) {
  auto const machine = machine_of("nehalem-2x4");
  auto const f = fib_tasks(18);
  auto const stuck = StealRun(f, machine, {}, 1, {0, 200'000}).run();  // takes its tasks along
  ASSERT_FALSE(stuck.ok());
  EXPECT_THAT(stuck.message(), StartsWith("nothing can go on at "));
  EXPECT_THAT(stuck.message(), HasSubstr(" tasks have not ended, 0 phases have not begun"));
  EXPECT_THAT(stuck.message(), HasSubstr("worker 0: halted, "));
  EXPECT_THAT(stuck.message(), HasSubstr(": probing, 0 private and 0 shared tasks"));
}

// The others ask in vain again and again meanwhile.
TEST(StealRun, IsNotStuckWhileTasksAreOnTheirWay) {
  auto machine = machine_of("nehalem-2x4");
  for (auto& rung : machine.rungs) rung.copy = 100'000'000;
  auto const f = paper_tasks("T1-tiny");
  EXPECT_EQ(run(f, machine, {}).tasks, f.tasks());
}

TEST(StealRun, ThatLostALockEndsToo) {
  auto const machine = machine_of("nehalem-2x4");
  auto const f = fib_tasks(18);
  int stuck = 0;
  for (Time at = 0; at < 40; ++at) {  // some of these die with a lock in hand
    auto const all = StealRun(f, machine, {}, 1, {5, 300 + 50 * at}).run();
    if (all.ok()) continue;
    ++stuck;
    EXPECT_THAT(all.message(), HasSubstr("worker 5: halted"));
  }
  EXPECT_GT(stuck, 0);
}

}  // namespace
}  // namespace nigh::sim
