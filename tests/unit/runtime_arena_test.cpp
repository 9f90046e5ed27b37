// SPDX-License-Identifier: Apache-2.0
// Runtimes whose cpus come by lease, from a script.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <nigh/blocking_scope.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <thread>
#include <vector>

#include "fib.hpp"
#include "scripted_leases.hpp"

namespace {

using nigh::tests::fib;
using nigh::near;
using nigh::runtime;
using nigh::runtime_options;
using nigh::tests::LeaseScript;
using Cpus = LeaseScript::Cpus;

Cpus const all{0, 1, 2, 3, 4, 5, 6, 7};

nigh::topology two_by_four() {
  return nigh::topology::from_synthetic("pack:2 numa:1 core:4 pu:1").value();
}
// As it has always been: nobody hands out cpus.
std::unique_ptr<runtime> on(nigh::topology const& m, runtime_options options = {}) {
  options.machine = &m;
  return std::make_unique<runtime>(options);
}

void await_members(runtime const& rt, int n) {
  while (rt.workers_now() != n) std::this_thread::yield();
}

// Every kind of work once; what is not done, or done twice, shows.
void work(runtime& rt) {
  ASSERT_EQ(rt.invoke([] { return fib(16); }), 987);

  std::vector<std::atomic<int>> times(300);
  rt.run([&] {
    nigh::task_scope scope;
    for (std::size_t i = 0; i < 100; ++i) scope.spawn([&times, i] { ++times[i]; });
    for (std::size_t i = 100; i < 200; ++i)
      scope.spawn(near(static_cast<int>(i % 2)), [&times, i] { ++times[i]; });
    scope.wait();
  });
  nigh::parallel_for(std::size_t{200}, std::size_t{300}, [&](std::size_t i) { ++times[i]; },
                     {.how = nigh::schedule(nigh::schedule_kind::local, 1), .where = &rt});
  for (auto const& t : times) ASSERT_EQ(t, 1);

  std::atomic<bool> done{false};
  rt.run([&] {
    rt.spawn([&] { done = true; });
    nigh::blocking_scope const blocking;
    while (!done) std::this_thread::yield();
  });
}

TEST(Arena, AllWorkersRunWhereNobodyHandsOutCpus) {
  auto const m = two_by_four();
  EXPECT_EQ(on(m)->workers_now(), 8);
  LeaseScript script(all);
  script.grant({});
  auto const rt = on(m);
  while (rt->workers_now() != 8) work(*rt);
  work(*rt);
  EXPECT_EQ(script.grants(), 0);
}

TEST(Arena, WhoNamesCpusAsksForNone) {
  auto const m = two_by_four();
  LeaseScript script({0});
  EXPECT_EQ(on(m, {.cpus = {0, 1, 2}})->workers_now(), 3);
  EXPECT_EQ(on(m, {.workers = 1})->workers_now(), 1);
  EXPECT_EQ(script.sources(), 0);
}

TEST(Arena, GrowsAndShrinksByLease) {
  auto const m = two_by_four();
  LeaseScript script({2, 5, 6});
  auto const rt = on(m);
  EXPECT_EQ(rt->workers(), 8);
  for (auto const& cpus : {Cpus{2, 5, 6}, Cpus{7}, all, Cpus{0, 4}, Cpus{}, Cpus{31}, all}) {
    script.grant(cpus);
    auto const members = std::count_if(cpus.begin(), cpus.end(), [](int c) { return c < 8; });
    while (rt->workers_now() != std::max<int>(1, static_cast<int>(members))) work(*rt);
    work(*rt);
  }
}

// Tasks that wait for nothing: a visit to a queue or stack that brings some is one beginning.
std::uint64_t begun_elsewhere(runtime const& rt, Cpus const& cpus) {
  std::uint64_t n = 0;
  for (auto const& c : rt.counters())
    if (std::find(cpus.begin(), cpus.end(), c.cpu) == cpus.end()) n += c.run + c.steals;
  return n;
}

TEST(Arena, NobodyBeginsOnCpusOfOthers) {
  auto const m = two_by_four();
  LeaseScript script(all);
  auto const rt = on(m);
  std::atomic<int> ran{0};
  auto const spawn_some = [&] {
    for (int i = 0; i < 200; ++i) rt->spawn(near(i % 2), [&] { ++ran; });
    nigh::task_scope scope;
    for (int i = 0; i < 50; ++i) scope.spawn([&] { ++ran; });
    scope.wait();
  };
  int rounds = 0;
  auto const round = [&] {
    rt->invoke(spawn_some);
    ++rounds;
  };
  for (auto const& cpus : {Cpus{3, 4}, Cpus{7, 1, 2}}) {
    script.grant(cpus);
    while (rt->workers_now() != static_cast<int>(cpus.size())) round();
    // Workers that have checked whether they may run, and have not yet begun: once each.
    auto const before = begun_elsewhere(*rt, cpus);
    for (int i = 0; i < 50; ++i) round();
    rt->wait();
    EXPECT_LE(begun_elsewhere(*rt, cpus), before + 8 - cpus.size());
  }
  EXPECT_EQ(ran, 250 * rounds);
}

TEST(Arena, StrictTasksHaveAWorkerInEachDomain) {
  auto const m = two_by_four();
  LeaseScript script({2, 3});
  auto const rt = on(m, {.mode = nigh::locality::strict});
  while (rt->workers_now() != 3) work(*rt);
  std::atomic<int> at_home{0};
  for (int i = 0; i < 100; ++i)
    rt->spawn(near(i % 2), [&, i] { at_home += nigh::this_worker::domain() == i % 2; });
  rt->wait();
  EXPECT_EQ(at_home, 100);
}

TEST(Arena, ALeaseThatIsNotUsedMayBeTakenBack) {
  auto const m = two_by_four();
  LeaseScript script(all);
  auto const rt = on(m);
  while (script.grants() == 0) work(*rt);  // work that is over at once asks for nothing
  for (int i = 0; i < 5; ++i) {
    work(*rt);
    script.await_idle();
    int const before = script.grants();
    work(*rt);  // goes on with the same one
    script.await_idle();
    EXPECT_EQ(script.grants(), before);
    script.grant(i % 2 == 0 ? Cpus{1, 2} : all);  // takes it, and nobody hears of it
    while (script.grants() == before) work(*rt);
  }
}

// With everybody but the owner of all tasks asleep, only others can notice.
TEST(Arena, GrowsUnderOneThatForksAndNeverLooksUp) {
  auto const m = two_by_four();
  LeaseScript script({0});
  auto const rt = on(m);
  while (rt->workers_now() != 1) work(*rt);
  std::atomic<bool> stolen{false};
  rt->run([&] {
    auto const root = std::this_thread::get_id();
    script.grant(all);
    while (!stolen)
      nigh::fork_join([&] { static_cast<void>(fib(8)); },
                      [&] { stolen = stolen || std::this_thread::get_id() != root; });
  });
}

TEST(Arena, WorksWhileItWaitsForCpus) {
  auto const m = two_by_four();
  LeaseScript script(all);
  auto rt = on(m);
  work(*rt);
  script.withhold();
  std::atomic<bool> asked = false;
  std::thread asks([&] {
    script.await_asking();
    asked = true;
  });
  while (!asked) work(*rt);  // without work, nobody asks
  asks.join();
  EXPECT_EQ(rt->workers_now(), 1);
  work(*rt);
  script.grant(all);
  while (rt->workers_now() != 8) work(*rt);
  script.withhold();
  while (rt->workers_now() != 1) work(*rt);
  rt.reset();  // waits for no cpus
}

TEST(Arena, OutlivesWhoeverHandsOutCpus) {
  auto const m = two_by_four();
  LeaseScript script({1});
  auto const rt = on(m);
  for (int i = 0; i < 3; ++i) {
    while (rt->workers_now() != 1) work(*rt);
    script.grant({});
    await_members(*rt, 8);
    work(*rt);
    script.grant(Cpus{1});
  }
}

TEST(Arena, EachRuntimeAsksForItself) {
  auto const m = two_by_four();
  LeaseScript script({0, 1, 2, 3});
  auto const one = on(m), two = on(m, {.workers = 6});
  EXPECT_EQ(script.sources(), 2);
  one->run([&] { two->invoke([&] { EXPECT_EQ(fib(12), 144); }); });
  while (one->workers_now() != 4 || two->workers_now() != 4) {
    work(*one);
    work(*two);
  }
}

TEST(Arena, ManyGuestsAtOnce) {
  auto const m = two_by_four();
  LeaseScript script({0});
  auto const rt = on(m);
  std::vector<std::thread> externals;
  std::atomic<int> right{0};
  for (int g = 0; g < 4; ++g)
    externals.emplace_back([&] {
      for (int i = 0; i < 20; ++i) right += rt->invoke([] { return fib(12); }) == 144;
    });
  for (int i = 0; i < 50; ++i) {
    script.grant(i % 2 == 0 ? Cpus{i % 8} : all);
    std::this_thread::yield();
  }
  for (auto& g : externals) g.join();
  EXPECT_EQ(right, 80);
}

TEST(Arena, AChildOfForkHasNone) {
  auto const m = two_by_four();
  LeaseScript script(all);
  auto rt = on(m);
  work(*rt);
  auto const child = ::fork();
  if (child == 0) {
    rt.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  work(*rt);
}

}  // namespace
