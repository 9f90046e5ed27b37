// SPDX-License-Identifier: Apache-2.0
#include "coordinator/protocol/lease_word.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

using coordinator::LeaseWord;
using Found = LeaseWord::Found;
using Left = LeaseWord::Left;

// A cpu, as a variable: two that use it at the same time, or one before what the other did there is
// over, race. An atomic that orders all before it stands for messages by the socket.
struct Shared {
  LeaseWord word;
  Plain cpu;
  sync::atomic<int> granted{0}, released{0};
};

// The program runs so many regions, and then does other things for ever.
void run_regions(std::shared_ptr<Shared> const& s, int regions) {
  while (s->granted.load(sync::acquire) == 0) sync::pause();
  for (int i = 0; i < regions; ++i) {
    if (i > 0 && !s->word.enter(1)) return;
    s->cpu.set(i + 1);
    auto const left = s->word.leave(1);
    if (left == Left::asked) s->released.store(1, sync::release);
    if (left != Left::kept) return;
  }
}

// The same for one that hears when it is asked for: it pauses, goes on, and gives back.
void pause_and_resume(std::shared_ptr<Shared> const& s, int times) {
  while (s->granted.load(sync::acquire) == 0) sync::pause();
  for (int i = 0; i < times; ++i) {
    if (i > 0 && !s->word.enter(1)) return;
    s->cpu.set(i + 1);
    if (s->word.pause(1)) continue;
    if (s->word.decline(1)) s->released.store(1, sync::release);
    return;
  }
}

// The coordinator gives the cpu to somebody else: at once if it is idle, else when it is released.
Scenario taking_back(int regions, decltype(run_regions)& run_them = run_regions) {
  return [regions, &run_them](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s, regions, &run_them] { run_them(s, regions); },
                   [s] {
                     s->word.grant(1);
                     s->granted.store(1, sync::release);
                     auto const found = s->word.take_back(1);
                     check(found != Found::none, "the word says who has the lease");
                     if (found == Found::busy)
                       while (s->released.load(sync::acquire) == 0) sync::pause();
                     s->cpu.set(-1);
                   }};
    run.at_end = [s] {
      check(s->cpu.get() == -1, "the cpu is the other program's");
      check(!s->word.enter(1), "the lease left its word");
    };
  };
}

// The same if it is idle, and not at all if it is not.
Scenario taking_idle(int regions) {
  return [regions](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto taken = std::make_shared<bool>(false);
    run.threads = {[s, regions] { run_regions(s, regions); },
                   [s, taken] {
                     s->word.grant(1);
                     s->granted.store(1, sync::release);
                     *taken = s->word.take_idle(1);
                     if (*taken) s->cpu.set(-1);
                   }};
    run.at_end = [s, taken] {
      check(*taken == (s->cpu.get() == -1), "the cpu is the other program's if it was taken");
      check(*taken != s->word.enter(1), "and else the lease is still there");
    };
  };
}

// The same if it was idle at two looks, and no region came between.
Scenario taking_rested(int regions) {
  return [regions](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto taken = std::make_shared<bool>(false);
    run.threads = {[s, regions] { run_regions(s, regions); },
                   [s, taken] {
                     s->word.grant(1);
                     s->granted.store(1, sync::release);
                     check(!s->word.take_rested(1), "one look is not enough");
                     *taken = s->word.take_rested(1);
                     if (*taken) s->cpu.set(-1);
                   }};
    run.at_end = [s, taken] {
      check(*taken == (s->cpu.get() == -1), "the cpu is the other program's if it was taken");
      check(*taken != s->word.enter(1), "and else the lease is still there");
    };
  };
}

// Both give it back: the program because it ends, the coordinator because it takes.
Scenario giving_back() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto times = std::make_shared<sync::atomic<int>>(0);
    s->word.grant(1);
    check(s->word.leave(1) == Left::kept, "nobody has asked");
    run.threads = {[s, times] {
                     if (s->word.give_back(1)) times->fetch_add(1, sync::relaxed);
                   },
                   [s, times] {
                     if (s->word.take_back(1) == Found::taken) times->fetch_add(1, sync::relaxed);
                   }};
    run.at_end = [times] { check(times->load(sync::relaxed) == 1, "it is given back once"); };
  };
}

// A lease that is long overdue ends, whatever the program is doing; the word is then free for
// another lease.
Scenario ending() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    s->word.grant(1);
    run.threads = {[s] {
                     auto const left = s->word.leave(1);
                     if (left == Left::kept) static_cast<void>(s->word.enter(1));
                   },
                   [s] {
                     if (s->word.take_back(1) == Found::busy) s->word.end(1);
                     s->word.grant(2);
                   }};
    run.at_end = [s] {
      check(!s->word.enter(1) && s->word.leave(1) == Left::lost, "the old lease is no more");
      check(s->word.leave(2) == Left::kept, "the new one is");
    };
  };
}

TEST(LeaseWord, NobodyHasACpuThatAnotherStillUses) {
  for (int regions : {1, 2, 3})
    expect_holds(taking_back(regions), {.preemptions = 4, .stale_reads = 3});
  for (int times : {1, 2, 3})
    expect_holds(taking_back(times, pause_and_resume), {.preemptions = 4, .stale_reads = 3});
}
TEST(LeaseWord, IsTakenWhileIdleOrStays) {
  for (int regions : {1, 2, 3})
    expect_holds(taking_idle(regions), {.preemptions = 4, .stale_reads = 3});
}
TEST(LeaseWord, IsTakenWhileItRestsOrStays) {
  for (int regions : {1, 2, 3})
    expect_holds(taking_rested(regions), {.preemptions = 4, .stale_reads = 3});
}
TEST(LeaseWord, IsGivenBackOnce) { expect_holds(giving_back(), {.preemptions = 4}); }
TEST(LeaseWord, EndsForBoth) { expect_holds(ending(), {.preemptions = 4}); }
TEST(LeaseWord, L) {
  expect_needed("lease.L", Order::relaxed, taking_back(2));
  expect_needed("lease.L", Order::relaxed, taking_idle(2));
  expect_needed("lease.L", Order::relaxed, taking_rested(2));
}
TEST(LeaseWord, LOfPauses) {
  expect_needed("lease.L", Order::relaxed, taking_back(2, pause_and_resume));
}

}  // namespace
}  // namespace nigh::model
