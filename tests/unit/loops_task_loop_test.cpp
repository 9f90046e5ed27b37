// SPDX-License-Identifier: Apache-2.0
// The promises of <nigh/task_loop.hpp>.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/task_loop.hpp>
#include <nigh/task_scope.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "policy/loops/loop_schedule.hpp"
#include "scripted_leases.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using nigh::index_range;
using nigh::runtime;
using nigh::runtime_options;
using nigh::spread;
using nigh::task_loop;
using nigh::task_loop_options;
using nigh::team;

nigh::topology two_domains() { return synthetic("pack:2 numa:1 core:4 pu:1"); }

runtime_options on(nigh::topology const& m, int workers = 0) {
  runtime_options options;
  options.machine = &m;
  options.workers = workers;
  return options;
}

// Every index of every block, as often as it should be.
void expect_all_once(runtime& rt, std::size_t blocks, std::size_t inner,
                     task_loop_options options) {
  options.where = &rt;
  std::vector<std::atomic<int>> called(blocks), times(blocks * inner);
  task_loop(
      blocks,
      [&](std::size_t b, team const& t) {
        ++called[b];
        EXPECT_GE(t.size(), 1);
        EXPECT_LT(t.index(), t.teams());
        t.parallel_for(b * inner, (b + 1) * inner, [&](std::size_t i) { ++times[i]; });
      },
      options);
  for (auto const& c : called) ASSERT_EQ(c, 1);
  for (auto const& t : times) ASSERT_EQ(t, 1);
}

TEST(TaskLoop, RunsEachIndexOfEachBlockOnce) {
  auto const m = two_domains();
  for (int workers : {1, 2, 3, 7, 8}) {
    runtime rt(on(m, workers));
    for (int s : {1, 2, 3, 4, 5, 8, 100})
      for (int active : {0, 1, 3, 100})
        for (std::size_t blocks : {0u, 1u, 2u, 5u, 64u})
          expect_all_once(rt, blocks, 40, {.spread = spread(s), .active = active});
  }
}

TEST(TaskLoop, RunsOnTheDefaultRuntime) {
  std::atomic<int> sum{0};
  task_loop(10, [&](std::size_t b, team const& t) {
    t.parallel_for(0, 10, [&](int i) { sum += static_cast<int>(b) * i; });
  });
  EXPECT_EQ(sum, 45 * 45);
}

TEST(TaskLoop, TakesBlocksByIndexOrInRuns) {
  auto const m = two_domains();
  runtime rt(on(m));
  for (auto const grain : std::initializer_list<std::size_t>{1, 3, 16, 100, 1ull << 32}) {
    std::vector<std::atomic<int>> times(50);
    task_loop(50,
              [&](index_range blocks, team const&) {
                EXPECT_EQ(blocks.begin % grain, 0u);
                EXPECT_TRUE(blocks.size() == grain || blocks.end == 50);
                for (auto b = blocks.begin; b < blocks.end; ++b) ++times[b];
              },
              {.grain = grain, .where = &rt});
    task_loop(50, [&](auto b, auto const&) { ++times[b]; }, {.grain = grain, .where = &rt});
    for (auto const& t : times) ASSERT_EQ(t, 2);
  }
}

TEST(TaskLoop, ChangesItsTeamsBetweenIterations) {
  auto const m = synthetic("pack:2 numa:1 core:2 pu:2");
  runtime rt(on(m));
  for (int round = 0; round < 300; ++round)
    expect_all_once(rt, static_cast<std::size_t>(round % 17), 8,
                    {.spread = spread(1 + round % 9), .active = round % 5, .smt = round % 2 == 0});
}

// Workers seen in the inner loops of each team.
std::vector<std::set<int>> seen(runtime& rt, task_loop_options options, int teams) {
  options.where = &rt;
  std::vector<std::set<int>> workers(static_cast<std::size_t>(teams));
  std::mutex lock;
  for (int round = 0; round < 30; ++round)
    task_loop(
        32,
        [&](std::size_t, team const& t) {
          EXPECT_EQ(t.teams(), teams);
          t.parallel_for(
              0, 64,
              [&](int) {
                std::lock_guard const guard(lock);
                workers[static_cast<std::size_t>(t.index())].insert(nigh::this_worker::index());
              },
              nigh::dynamic_schedule(1));
        },
        options);
  return workers;
}

TEST(TaskLoop, HasOnlyATeamsWorkersRunItsLoops) {
  auto const m = two_domains();
  runtime rt(on(m));
  rt.run([&] {  // in a worker: external threads have no number
    auto const pairs = seen(rt, {.spread = spread(2)}, 4);
    for (int t = 0; t < 4; ++t)
      for (int w : pairs[static_cast<std::size_t>(t)]) EXPECT_EQ(w / 2, t);
    auto const domains = seen(rt, {.spread = spread(5)}, 2);
    for (int t = 0; t < 2; ++t)
      for (int w : domains[static_cast<std::size_t>(t)]) EXPECT_EQ(w / 4, t);
    EXPECT_LE(seen(rt, {.spread = spread::all, .active = 3}, 1)[0].size(), 3u);
  });
}

// All teams at once, all members of each: none waits for what another one does not do.
TEST(TaskLoop, HasAllMembersOfAllTeamsAtWorkAtOnce) {
  auto const m = two_domains();
  runtime rt(on(m));
  for (int round = 0; round < 10; ++round)
    for (int s : {1, 2, 3, 4, 8}) {
      std::atomic<int> here{0};
      rt.run([&] {
        task_loop(8,
                  [&](std::size_t, team const& t) {
                    t.parallel_for(
                        0, t.size(),
                        [&](int) {
                          ++here;
                          while (here < 8) std::this_thread::yield();
                        },
                        nigh::static_schedule());
                  },
                  {.spread = spread(s)});
      });
      EXPECT_GE(here, 8);
    }
}

// [block]: the worker that ran it, where each has one, and no team is behind.
std::vector<int> ran_by(runtime& rt, task_loop_options const& options) {
  std::vector<int> worker(8);
  std::atomic<int> here{0};
  rt.run([&] {
    task_loop(
        8,
        [&](std::size_t b, team const&) {
          worker[b] = nigh::this_worker::index();
          ++here;
          while (here < 8) std::this_thread::yield();
        },
        options);
  });
  return worker;
}

TEST(TaskLoop, GivesConsecutiveBlocksToConsecutiveTeamsEachTime) {
  auto const m = two_domains();
  runtime rt(on(m));
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(ran_by(rt, {}), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(TaskLoop, GivesBlocksToTheDomainOfTheirPages) {
  auto const m = two_domains();
  runtime rt(on(m));
  using Map = nigh::policy::LocalMap;
  Map const odd_ones_in_0({
      {0, 1, 1}, {1, 2, 0}, {2, 3, 1}, {3, 4, 0}, {4, 5, 1}, {5, 6, 0}, {6, 7, 1}, {7, 8, 0}});
  nigh::detail::kept_map kept{&odd_ones_in_0, [](nigh::detail::kept_map*) noexcept {}};
  nigh::schedule const how(nigh::schedule_kind::local, 1, nigh::detail::shared_map(&kept));
  EXPECT_EQ(ran_by(rt, {.how = how}), (std::vector<int>{4, 0, 5, 1, 6, 2, 7, 3}));
  for (int s : {2, 3, 4, 8})
    for (std::size_t grain : {1u, 3u})
      expect_all_once(rt, 8, 10, {.spread = spread(s), .grain = grain, .how = how});
}

TEST(TaskLoop, RethrowsWhatALeaderOrAMemberThrows) {
  auto const m = two_domains();
  runtime rt(on(m));
  for (int s : {1, 2, 3, 8}) {
    task_loop_options const options{.spread = spread(s), .where = &rt};
    EXPECT_THROW(task_loop(
                     20,
                     [](std::size_t b, team const&) {
                       if (b == 13) throw std::runtime_error("leader");
                     },
                     options),
                 std::runtime_error);
    for (std::size_t at : {0u, 399u, 1999u})
      EXPECT_THROW(task_loop(
                       20,
                       [&](std::size_t b, team const& t) {
                         t.parallel_for(b * 100, b * 100 + 100, [&](std::size_t i) {
                           if (i == at) throw std::runtime_error("member");
                         });
                       },
                       options),
                   std::runtime_error);
    expect_all_once(rt, 20, 20, options);
  }
}

TEST(TaskLoop, EndsEarly) {
  auto const m = two_domains();
  runtime rt(on(m));
  std::atomic<int> calls{0};
  task_loop(1000,
            [&](std::size_t, team const&) {
              ++calls;
              return nigh::loop_flow::leave;
            },
            {.where = &rt});
  EXPECT_GE(calls, 1);
  EXPECT_LE(calls, 8);
}

TEST(TaskLoop, NestsInTasksInLoopsAndInItself) {
  auto const m = two_domains();
  runtime rt(on(m));
  std::vector<std::atomic<int>> times(4 * 6 * 5 * 7);
  auto const nest = [&](std::size_t first) {
    task_loop(6,
              [&](std::size_t a, team const& outer) {
                task_loop(5,
                          [&](std::size_t b, team const& inner) {
                            inner.parallel_for(std::size_t{0}, std::size_t{7}, [&](std::size_t c) {
                              ++times[((first * 6 + a) * 5 + b) * 7 + c];
                              // Loops on teams, own and others', in a team's loop.
                              inner.parallel_for(0, 3, [](int) {});
                              outer.parallel_for(0, 3, [](int) {});
                            });
                            nigh::parallel_for(0, 50, [](int) {});
                          },
                          {.spread = spread(3)});
              },
              {.spread = spread(2)});
  };
  for (int round = 1; round <= 20; ++round) {
    rt.run([&] {
      nigh::task_scope scope;
      for (std::size_t i = 0; i < 4; ++i) scope.spawn([&, i] { nest(i); });
      scope.wait();
    });
    for (auto const& t : times) ASSERT_EQ(t, round);
  }
}

TEST(TaskLoop, IsCalledByManyThreadsAtOnce) {
  auto const m = two_domains();
  runtime rt(on(m));
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int round = 0; round < 20; ++round)
        expect_all_once(rt, 12, 20, {.spread = spread(1 + (k + round) % 8)});
    });
  for (auto& t : threads) t.join();
}

TEST(TaskLoop, SumsOnATeam) {
  auto const m = two_domains();
  runtime rt(on(m));
  std::atomic<long> sum{0};
  task_loop(10,
            [&](std::size_t b, team const& t) {
              nigh::reduce_options options;
              options.members = &t;
              sum += nigh::parallel_reduce(
                  0, 100, 0L, [&](int i) { return static_cast<long>(b) * i; }, std::plus<long>(),
                  options);
            },
            {.spread = spread(4), .where = &rt});
  EXPECT_EQ(sum, 45 * 4950);
}

TEST(TaskLoop, GoesOnWhileItsLeaseShrinksAndGrows) {
  auto const m = two_domains();
  using Cpus = nigh::tests::LeaseScript::Cpus;
  nigh::tests::LeaseScript script({0, 1, 2, 3, 4, 5, 6, 7});
  runtime rt(on(m));
  for (auto const& cpus : {Cpus{0, 1}, Cpus{5}, Cpus{0, 1, 2, 3, 4, 5, 6, 7}, Cpus{}, Cpus{2, 6}}) {
    script.grant(cpus);
    for (int round = 0; round < 20; ++round)
      expect_all_once(rt, 16, 30, {.spread = spread(1 + round % 5)});
  }
}

TEST(TaskLoop, RefusesWhatMakesNoSense) {
  auto const run = [](task_loop_options const& o) {
    task_loop(3, [](std::size_t, team const&) {}, o);
  };
  EXPECT_THROW(run({.spread = spread(-1)}), std::invalid_argument);
  EXPECT_THROW(run({.spread = spread::automatic}), std::invalid_argument);
  EXPECT_THROW(run({.active = -1}), std::invalid_argument);
  EXPECT_THROW(run({.how = nigh::dynamic_schedule()}), std::invalid_argument);
  EXPECT_THROW(nigh::spread_site("x", {.grains = {0}}), std::invalid_argument);
}

TEST(Spread, IsText) {
  EXPECT_EQ(nigh::parse_spread("auto").value(), spread::automatic);
  EXPECT_EQ(nigh::parse_spread("all").value(), spread::all);
  EXPECT_EQ(nigh::parse_spread("12").value(), spread(12));
  for (auto const* text : {"", "0", "-1", "1x", "x", " 1", "99999999999"})
    EXPECT_FALSE(nigh::parse_spread(text).ok()) << text;
  for (auto s : {spread::automatic, spread::all, spread(7)})
    EXPECT_EQ(nigh::parse_spread(nigh::to_string(s)).value(), s);
}

// Loops whose times somebody else says: those of one configuration are alike.
struct Told {
  std::function<double(nigh::spread_choice const&)> seconds;
  nigh::spread_choice running{};
  nigh::spread_site site;

  explicit Told(std::function<double(nigh::spread_choice const&)> of, std::string name = {})
      : seconds(std::move(of)),
        site(std::move(name), {.agree = [this](double) { return seconds(running); }}) {}

  void run(runtime& rt, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      running = site.next();
      expect_all_once(rt, 8, 16, {.site = &site});
    }
  }
};

TEST(SpreadSite, FindsTheBestAndHoldsIt) {
  auto const m = two_domains();
  runtime rt(on(m));
  task_loop(1, [](std::size_t, team const&) {}, {.where = &rt});
  Told told([](nigh::spread_choice const& c) { return c.spread == 4 ? 0.5 : 1.0; });
  told.run(rt, 100);
  EXPECT_TRUE(told.site.is_holding());
  EXPECT_EQ(told.site.next().spread, 4);
  EXPECT_LE(told.site.trials(), 20);
  told.seconds = [](nigh::spread_choice const& c) { return c.spread == 2 ? 5.0 : 9.0; };
  told.run(rt, 5000);
  EXPECT_EQ(told.site.next().spread, 2);
}

TEST(SpreadSite, GoesOnWhenItsCallerCouldNotAgree) {
  auto const m = two_domains();
  runtime rt(on(m));
  Told told([n = 0](nigh::spread_choice const&) mutable { return ++n == 1 ? throw 1 : 1.0; });
  EXPECT_THROW(told.run(rt, 1), int);
  EXPECT_TRUE((told.run(rt, 100), told.site.is_holding()));
}

TEST(SpreadSite, HoldsSpreadOneWhereIterationsDiffer) {
  auto const m = two_domains();
  runtime rt(on(m));
  int i = 0;
  Told told([&](nigh::spread_choice const& c) {
    return (++i % 3 == 0 ? 1.0 : i % 3) * (c.spread > 1 ? 0.9 : 1.0) * 7;
  });
  told.run(rt, 50);
  EXPECT_TRUE(told.site.is_holding());
  EXPECT_EQ(told.site.next().spread, 1);
  EXPECT_EQ(told.site.next().active, 8);
}

TEST(SpreadSite, TakesNoSampleOfWhatEndsEarly) {
  auto const m = two_domains();
  runtime rt(on(m));
  int asked = 0;
  Told told([&](nigh::spread_choice const&) { return ++asked, 1.0; });
  for (int i = 0; i < 10; ++i) {
    task_loop_options const options{.site = &told.site, .where = &rt};
    EXPECT_THROW(task_loop(3, [](std::size_t, team const&) { throw 1; }, options), int);
    task_loop(3, [](std::size_t, team const&) { return nigh::loop_flow::leave; }, options);
    task_loop(0, [](std::size_t, team const&) {}, options);
  }
  EXPECT_EQ(asked, 0);
  told.run(rt, 1);
  EXPECT_EQ(asked, 1);
}

TEST(SpreadSite, ServesManyThreads) {
  auto const m = two_domains();
  runtime rt(on(m));
  nigh::spread_site site;
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) expect_all_once(rt, 8, 16, {.site = &site});
    });
  for (auto& t : threads) t.join();
}

class SpreadFile : public testing::Test {
 protected:
  SpreadFile() {
    std::filesystem::remove(path);
    setenv("NIGH_SPREADS", path.c_str(), 1);
  }
  ~SpreadFile() override {
    unsetenv("NIGH_SPREADS");
    std::filesystem::remove(path);
  }
  std::string text() const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static double best_is_4(nigh::spread_choice const& c) { return c.spread == 4 ? 0.5 : 1.0; }

  static inline int files = 0;
  std::string const path = testing::TempDir() + "spreads-" + std::to_string(getpid()) + '-' +
                           std::to_string(++files) + ".json";
  nigh::topology const m = two_domains();
};

TEST_F(SpreadFile, KeepsWhatWasFound) {
  runtime rt(on(m));
  for (auto const* name : {"a", "b"}) {
    Told told(best_is_4, name);
    told.run(rt, 100);
  }
  EXPECT_EQ(text(),
            "{\"nigh_spreads\": 1, \"machine\": \"package:2 domain:2 l3:2 core:8 cpu:8\", "
            "\"sites\": [\n"
            "{\"name\": \"a\", \"workers\": 8, \"spread\": 4, \"active\": 8, \"grain\": 1, "
            "\"seconds\": 0.5},\n"
            "{\"name\": \"b\", \"workers\": 8, \"spread\": 4, \"active\": 8, \"grain\": 1, "
            "\"seconds\": 0.5}\n]}\n");
  Told again(best_is_4, "b"), other(best_is_4, "c");
  again.run(rt, 1);
  EXPECT_EQ(again.site.next().spread, 4);
  EXPECT_TRUE(again.site.is_holding());
  EXPECT_EQ(again.site.trials(), 0);
  other.run(rt, 1);
  EXPECT_FALSE(other.site.is_holding());
}

TEST_F(SpreadFile, OfAnotherMachineIsLeftAsItIs) {
  std::ofstream(path) << "{\"nigh_spreads\": 1, \"machine\": \"package:1\", \"sites\": [\n]}\n";
  auto const before = text();
  runtime rt(on(m));
  {
    Told told(best_is_4, "a");
    testing::internal::CaptureStderr();
    told.run(rt, 100);
    EXPECT_TRUE(told.site.is_holding());
  }
  Told(best_is_4, "b").run(rt, 100);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "nigh: NIGH_SPREADS: " + path +
                " is for another machine, and not used: package:1, this one is package:2 domain:2 "
                "l3:2 core:8 cpu:8\n");
  EXPECT_EQ(text(), before);
}

TEST_F(SpreadFile, OfWhateverBytesIsLeftAsItIs) {
  runtime rt(on(m));
  for (auto const* bytes : {"", "x", "{}", "{\"nigh_spreads\": 2}", "{\"nigh_spreads\": 1",
                            "{\"nigh_spreads\": 1, \"machine\": \"m\", \"sites\": [\n{]}\n"}) {
    std::ofstream(path) << bytes;
    Told(best_is_4, "a").run(rt, 100);
    EXPECT_EQ(text(), bytes);
  }
}

TEST(SpreadSite, RefusesNamesThatCannotBeWritten) {
  for (auto const* name : {"\"", "a\\", "a\nb"})
    EXPECT_THROW(nigh::spread_site{name}, std::invalid_argument);
}

}  // namespace
