// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <nigh/array.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "everywhere.hpp"
#include "fib.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::everywhere;
using nigh::tests::synthetic;
using nigh::near;
using nigh::runtime;

nigh::topology four_domains() { return synthetic("pack:4 numa:1 core:2 pu:1"); }

template <class Field>
std::uint64_t sum_over(runtime const& rt, Field field) {
  std::uint64_t total = 0;
  for (auto const& c : rt.counters()) total += c.*field;
  return total;
}

// A function of some size whose copies are made by tasks.
template <std::size_t more_words>
struct CopiedByTasks {
  static constexpr int right = 12345;
  explicit CopiedByTasks(std::atomic<int>& to) : sum(&to) {}
  CopiedByTasks(CopiedByTasks const& of) : sum(of.sum), tag(of.tag) {
    more.fill(of.more.back());
    nigh::task_scope scope;
    for (int i = 0; i < 10; ++i) scope.spawn([this, i] { copied[i % 2] += i; });
    scope.wait();
    nigh::fork_join([this] { ++copied[0]; }, [this] { ++copied[1]; });
  }
  CopiedByTasks(CopiedByTasks&& of) noexcept : sum(of.sum), tag(of.tag), more(of.more) {}
  void operator()() const { *sum += tag == right && more.back() == right; }

  std::atomic<int>* sum;
  int tag = right;
  std::array<int, more_words> more = all_right();
  std::atomic<int> copied[2] = {};

 private:
  static std::array<int, more_words> all_right() {
    std::array<int, more_words> all;
    all.fill(right);
    return all;
  }
};

template <std::size_t more_words>
void expect_copies_to_be_whole() {
  everywhere([] {
    std::atomic<int> sum{0};
    CopiedByTasks<more_words> const f(sum);
    nigh::task_scope scope;
    for (int i = 0; i < 100; ++i) scope.spawn(f);
    scope.wait();
    EXPECT_EQ(sum, 100);
  });
}

TEST(TaskScope, TakesFunctionsWhoseCopiesAreMadeByTasks) {
  static_assert(sizeof(CopiedByTasks<1>) <= nigh::detail::task_slot::closure_bytes);
  static_assert(sizeof(CopiedByTasks<100>) > nigh::detail::task_slot::closure_bytes);
  expect_copies_to_be_whole<1>();
  expect_copies_to_be_whole<100>();
}

// Makes tasks while it is moved: also out of its slot, by the thread that takes it off there.
struct MovedByTasks {
  std::atomic<int>* ran;
  std::atomic<int>* sum;
  MovedByTasks(std::atomic<int>& r, std::atomic<int>& s) : ran(&r), sum(&s) {}
  MovedByTasks(MovedByTasks&& from) noexcept : ran(from.ran), sum(from.sum) {
    auto const count = [this] { sum->fetch_add(1); };
    nigh::fork_join(count, count);
    nigh::task_scope scope;
    for (int i = 0; i < 3; ++i) scope.spawn(count);
    scope.wait();
    from.ran = nullptr;
  }
  void operator()() const {
    ASSERT_NE(ran, nullptr) << "it was moved";
    ran->fetch_add(1);
  }
};

TEST(TaskScope, RunsFunctionsOnceThatAreMovedByTasks) {
  static_assert(sizeof(MovedByTasks) <= nigh::detail::task_slot::closure_bytes);
  everywhere([] {
    for (int round = 0; round < 50; ++round) {
      std::array<std::atomic<int>, 12> ran{};
      std::atomic<int> sum{0};
      nigh::task_scope scope;
      for (auto& one : ran) scope.spawn(MovedByTasks(one, sum));
      scope.wait();
      for (auto const& one : ran) ASSERT_EQ(one, 1);
    }
  });
}

// A result with an operator & of its own.
struct Addressed {
  int value = 0;
  void operator&() const = delete;
};
TEST(ForkJoin, GivesResultsThatHideTheirAddress) {
  everywhere([] {
    auto const [a, b] = nigh::fork_join([] { return Addressed{1}; }, [] { return Addressed{2}; });
    EXPECT_EQ(a.value + 10 * b.value, 21);
  });
}

// Keeps one worker at a task from its construction to release().
class BusyWorker {
 public:
  explicit BusyWorker(runtime& rt) {
    rt.spawn([this] {
      begun_ = true;
      while (!go_) std::this_thread::yield();
    });
    while (!begun_) std::this_thread::yield();
  }
  void release() { go_ = true; }

 private:
  std::atomic<bool> begun_{false}, go_{false};
};

TEST(Runtime, RunsEveryTaskOnce) {
  auto const m = four_domains();
  runtime rt({.machine = &m});
  EXPECT_EQ(rt.workers(), 8);
  std::vector<std::atomic<int>> ran(10'000);
  for (std::size_t i = 0; i < ran.size(); ++i)
    rt.spawn(near(static_cast<int>(i % 4)), [&ran, i] { ++ran[i]; });
  rt.wait();
  for (auto const& r : ran) ASSERT_EQ(r, 1);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::run), ran.size());
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::local) + sum_over(rt, &nigh::worker_counters::remote),
            ran.size());
}

TEST(Runtime, TasksSpawnTasks) {
  auto const m = four_domains();
  runtime rt({.machine = &m});
  std::atomic<int> leaves{0};
  struct Tree {
    static void grow(runtime& rt, std::atomic<int>& leaves, int depth) {
      if (depth == 0) {
        ++leaves;
        return;
      }
      for (int child = 0; child < 2; ++child)
        rt.spawn(near(depth % 4), [&rt, &leaves, depth] { grow(rt, leaves, depth - 1); });
    }
  };
  rt.run([&] { Tree::grow(rt, leaves, 12); });
  EXPECT_EQ(leaves, 1 << 12);
}

TEST(Runtime, StrictTasksStayInTheirDomain) {
  auto const m = four_domains();
  runtime rt({.machine = &m, .mode = nigh::locality::strict});
  std::atomic<int> strays{0};
  for (int i = 0; i < 2000; ++i)
    rt.spawn(near(i % 4, 100), [&strays, i] { strays += nigh::this_worker::domain() != i % 4; });
  rt.wait();
  EXPECT_EQ(strays, 0);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::local), 2000u);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::remote), 0u);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::bytes_local), 200'000u);
}

// Two tasks near domain 0 that need each other, and only one worker there: another domain's has to
// step in, and is counted as remote.
TEST(Runtime, PreferredTasksLeaveADomainThatIsBusy) {
  auto const m = synthetic("pack:2 numa:1 core:1 pu:1");
  runtime rt({.machine = &m});
  std::atomic<int> here{0};
  for (int i = 0; i < 2; ++i)
    rt.spawn(near(0), [&here] {
      ++here;
      while (here < 2) std::this_thread::yield();
    });
  rt.wait();
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::local), 1u);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::remote), 1u);
  EXPECT_EQ(rt.counters()[1].run_for_domain, (std::vector<std::uint64_t>{1, 0}));
}

TEST(Runtime, AMemoryOnlyDomainIsServedByTheNearestWorkers) {
  auto const m = synthetic("pack:2 numa:1 core:1 pu:1").restricted_to(std::vector<int>{1}).value();
  ASSERT_EQ(m.cpu_domains(), 1);
  ASSERT_EQ(m.domains().size(), 2u);
  runtime rt({.machine = &m, .mode = nigh::locality::strict});
  bool ran = false;
  rt.spawn(near(1), [&ran] { ran = true; });
  rt.wait();
  EXPECT_TRUE(ran);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::remote), 1u);
}

TEST(Runtime, NearAPointerIsNearItsArraysDomain) {
  auto const m = four_domains();
  nigh::array<double> a(1 << 16, nigh::placement::blocked(), {.machine = &m});
  runtime rt({.machine = &m, .mode = nigh::locality::strict});
  std::atomic<int> strays{0};
  for (std::size_t i = 0; i < a.size(); i += 512)
    rt.spawn(near(&a[i]), [&, i] { strays += nigh::this_worker::domain() != a.domain_of(i); });
  rt.wait();
  EXPECT_EQ(strays, 0);
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::local), a.size() / 512);
}

TEST(Runtime, AFullQueueRunsTheTaskWhereItIsSpawned) {
  auto const m = synthetic("numa:1 core:1 pu:1");
  runtime rt({.machine = &m, .queue_capacity = 2});
  BusyWorker busy(rt);
  int here = 0;
  auto const self = std::this_thread::get_id();
  for (int i = 0; i < 5; ++i) rt.spawn([&] { here += std::this_thread::get_id() == self; });
  EXPECT_EQ(here, 3);
  busy.release();
  rt.wait();
}

TEST(Runtime, AtThePendingLimitTheSpawnerRunsTheOldest) {
  auto const m = synthetic("numa:1 core:1 pu:1");
  runtime rt({.machine = &m, .pending_limit = 4});
  BusyWorker busy(rt);
  std::vector<int> order;
  for (int i = 0; i < 6; ++i) rt.spawn([&order, i] { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));  // the task that blocks is pending too
  busy.release();
  rt.wait();
  EXPECT_EQ(order.size(), 6u);
}

TEST(Runtime, TheFirstExceptionReachesTheWait) {
  auto const m = four_domains();
  runtime rt({.machine = &m});
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i)
    rt.spawn(near(i % 4), [&ran, i] {
      ++ran;
      if (i % 10 == 3) throw std::runtime_error("task failed");
    });
  EXPECT_THROW(rt.wait(), std::runtime_error);
  EXPECT_EQ(ran, 100);
  rt.run([] {});  // nothing is left over
}

TEST(Runtime, ClosuresOfAnyKindAreDestroyedOnce) {
  auto const m = four_domains();
  auto const alive = std::make_shared<int>(7);
  std::atomic<int> total{0};
  {
    runtime rt({.machine = &m});
    for (int i = 0; i < 100; ++i) rt.spawn([alive, &total] { total += *alive; });
    struct Large {
      double data[100] = {};
    };
    rt.spawn([large = Large{}, &total] { total += static_cast<int>(large.data[99]) + 1; });
  }  // the destructor waits
  EXPECT_EQ(total, 701);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Runtime, WaitingInsideATaskIsRefused) {
  auto const m = four_domains();
  runtime rt({.machine = &m});
  EXPECT_THROW(rt.run([&rt] { rt.wait(); }), std::logic_error);
}

TEST(Runtime, SeveralLiveTogetherAndSpawnIntoEachOther) {
  auto const m = four_domains();
  runtime a({.machine = &m, .workers = 2});
  runtime b({.machine = &m, .workers = 3});
  std::atomic<int> ran{0};
  a.run([&] {
    for (int i = 0; i < 50; ++i) b.spawn([&ran] { ++ran; });
    EXPECT_GE(nigh::this_worker::index(), 0);
  });
  b.wait();
  EXPECT_EQ(ran, 50);
  EXPECT_EQ(nigh::this_worker::index(), -1);
  EXPECT_EQ(nigh::this_worker::domain(), -1);
}

TEST(Runtime, WorkersTakeTheCpusOfTheOrderAskedFor) {
  auto const m = four_domains();
  auto const domains_of = [&](nigh::cpu_order order) {
    std::vector<int> domains;
    for (auto const& c : runtime({.machine = &m, .workers = 4, .order = order}).counters())
      domains.push_back(c.domain);
    return domains;
  };
  EXPECT_EQ(domains_of(nigh::cpu_order::compact), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(domains_of(nigh::cpu_order::scatter), (std::vector<int>{0, 1, 2, 3}));
}

// As many as asked for: they take turns on the cpus, in the order of these.
TEST(Runtime, MoreWorkersThanCpus) {
  auto const m = four_domains();
  for (int const level : {0, 1}) {
    runtime rt({.machine = &m,
                .workers = 20,
                .queue_level = level == 0 ? nigh::level::domain : nigh::level::core});
    EXPECT_EQ(rt.workers(), 20);
    auto const counters = rt.counters();
    auto const order = m.order(nigh::cpu_order::compact, nigh::level::domain);
    for (std::size_t w = 0; w < counters.size(); ++w)
      EXPECT_EQ(counters[w].cpu, order[w % order.size()]);
    std::atomic<int> ran{0};
    for (int i = 0; i < 1000; ++i) rt.spawn(near(i % 4), [&] { ++ran; });
    rt.wait();
    EXPECT_EQ(ran, 1000);
    long const result = rt.run([] { return nigh::tests::fib(20); });
    EXPECT_EQ(result, 6765);
  }
  runtime named({.machine = &m, .workers = 3, .cpus = {5, 2}});
  EXPECT_EQ(named.counters()[0].cpu, 5);
  EXPECT_EQ(named.counters()[2].cpu, 5);
}

TEST(Runtime, ANumberIsEnough) {
  runtime two(2);
  EXPECT_EQ(two.workers(), 2);
  EXPECT_EQ(runtime({}).workers(), runtime(0).workers());
  EXPECT_THROW(runtime(-1), std::invalid_argument);
}

TEST(Runtime, RunAndInvokeReturnWhatTheFunctionDoes) {
  runtime rt(1);
  int here = 3;
  auto const both = [&](auto&& call) {
    EXPECT_EQ(call([] { return 42; }), 42);
    int& same = call([&]() -> int& { return here; });
    EXPECT_EQ(&same, &here);
    EXPECT_EQ(*call([] { return std::make_unique<int>(5); }), 5);
    static_assert(std::is_void_v<decltype(call([] {}))>);
    call([kept = std::make_unique<int>(1)] { EXPECT_EQ(*kept, 1); });  // called where it is
    EXPECT_THROW(call([]() -> int { throw std::runtime_error("own"); }), std::runtime_error);
    struct Only {
      int operator()() && { return 9; }
    };
    EXPECT_EQ(call(Only{}), 9);
  };
  both([&](auto&& f) -> decltype(auto) { return rt.run(std::forward<decltype(f)>(f)); });
  both([&](auto&& f) -> decltype(auto) { return rt.invoke(std::forward<decltype(f)>(f)); });
  EXPECT_NO_THROW(rt.wait());  // no exception is left
}

TEST(Runtime, RunThrowsItsFunctionsExceptionBeforeOthers) {
  runtime rt(1);
  auto const throws = [](auto what) { return [what] { throw what; }; };
  rt.spawn(throws(1));
  EXPECT_THROW(rt.run(throws(2.0)), double);
  rt.spawn(throws(1));
  EXPECT_THROW(rt.run([] { return 3; }), int);
  EXPECT_NO_THROW(rt.wait());
}

TEST(Runtime, RunInATaskIsRefusedBeforeTheCall) {
  runtime rt(2);
  bool called = false;
  rt.run([&] { EXPECT_THROW(rt.run([&] { called = true; }), std::logic_error); });
  EXPECT_FALSE(called);
}

TEST(Runtime, BadOptionsAreNamed) {
  auto const m = four_domains();
  auto const message = [&](nigh::runtime_options o) -> std::string {
    o.machine = &m;
    try {
      runtime rt(o);
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message({.workers = 1025}), testing::HasSubstr("workers: 1025 workers, more than"));
  EXPECT_THAT(message({.workers = -1}), testing::HasSubstr("workers: -1"));
  EXPECT_THAT(message({.queue_capacity = 0}), testing::HasSubstr("queue_capacity"));
  EXPECT_THAT(message({.queue_capacity = 100}), testing::HasSubstr("not a power of two"));
  EXPECT_THAT(message({.queue_capacity = std::size_t{1} << 62}), testing::HasSubstr("queue_capacity"));
  for (std::size_t stack : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 50, ~std::size_t{0}})
    EXPECT_THAT(message({.thread_stack_bytes = stack}), testing::HasSubstr("thread_stack_bytes")) << stack;
  runtime rt({.machine = &m});
  EXPECT_THROW(rt.spawn(near(4), [] {}), std::out_of_range);
  EXPECT_THROW(rt.spawn(near(-2), [] {}), std::out_of_range);
  auto const kept = std::make_shared<int>();
  EXPECT_THROW(rt.spawn(near(4), [kept] {}), std::out_of_range);
  EXPECT_EQ(kept.use_count(), 1);  // a refused closure is not left behind
  rt.wait();                       // nor waited for
}

TEST(Runtime, IdleWorkersParkAndComeBack) {
  auto const m = four_domains();
  runtime rt({.machine = &m});
  auto const parked = [&] {
    int n = 0;
    for (auto const& c : rt.counters()) n += c.parked > 0;
    return n;
  };
  std::atomic<int> ran{0};
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 16; ++i) rt.spawn(near(i % 4), [&ran] { ++ran; });
    rt.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(ran, 320);
  while (parked() < 2) std::this_thread::yield();  // hangs, and times out, when nobody parks
}

TEST(Runtime, CountersStartAgain) {
  auto const m = four_domains();
  runtime rt({.machine = &m});
  rt.run([] {});
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::run), 1u);
  rt.reset_counters();
  EXPECT_EQ(sum_over(rt, &nigh::worker_counters::run), 0u);
}

// Such a worker never helps in a join, but it works, sleeps, is woken and ends as the others.
TEST(Runtime, WorkersMayHaveSmallStacks) {
  auto const m = synthetic("numa:1 core:2 pu:1");
  runtime rt({.machine = &m, .workers = 2, .thread_stack_bytes = std::size_t{128} << 10});
  int ran = 0;
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    rt.run([&] { ++ran; });
  }
  EXPECT_EQ(ran, 3);
}

TEST(Runtime, SaysWhatNobodyWaitedFor) {
  auto const m = four_domains();
  testing::internal::CaptureStderr();
  {
    runtime rt({.machine = &m});
    rt.spawn([] { throw std::runtime_error("as arranged"); });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "nigh: a task threw, and nobody waited for it: as arranged\n");
}

}  // namespace
