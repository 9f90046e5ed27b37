// SPDX-License-Identifier: Apache-2.0
// The default runtime, its environment, and processes that fork.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "fib.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::fib;
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  char const* name_;
};

// Runtimes that exit() destroys.
nigh::runtime& statically() {
  static nigh::runtime one(2);
  return one;
}
[[maybe_unused]] nigh::runtime& owned_by_what_is_static() {
  static auto const one = std::make_unique<nigh::runtime>(2);
  return *one;
}

void expect_status_of_exit(nigh::runtime& (*made)()) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const four = testing::ExitedWithCode(4);
  EXPECT_EXIT(made().run([] { std::exit(4); }), four, "^$");
  EXPECT_EXIT(made().invoke([] { nigh::fork_join([] { std::exit(4); }, [] {}); }), four, "^$");
  EXPECT_EXIT((made().spawn([] {}), std::exit(4)), four, "^$");
  // In a thread that has not made it.
  EXPECT_EXIT(std::thread([&] { made().invoke([] { std::exit(4); }); }).join(), four, "^$");
}

TEST(StaticRuntimeDeathTest, ExitsWithTheProgramsStatus) { expect_status_of_exit(statically); }

// ThreadSanitizer sees that its owner deletes it beside the thread that waits in it.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NIGH_SEES_RACES
#endif
#endif
#ifndef NIGH_SEES_RACES
TEST(StaticRuntimeDeathTest, ExitsWithTheProgramsStatusWhereItIsOwned) {
  expect_status_of_exit(owned_by_what_is_static);
}

// The thread that calls exit() has made it, and no more.
TEST(StaticRuntimeDeathTest, ExitsWithTheProgramsStatusWhileAnotherThreadIsInIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const exits = [] {
    auto& one = owned_by_what_is_static();
    std::atomic<bool> is_in_it{false};
    std::thread([&] {
      one.invoke([&] {
        is_in_it = true;
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
      });
    }).detach();
    while (!is_in_it) std::this_thread::yield();
    std::exit(4);
  };
  EXPECT_EXIT(exits(), testing::ExitedWithCode(4), "^$");
}
#endif

TEST(Environment, SetsWhatItNames) {
  Variable const all[] = {
      {"NIGH_WORKERS", "3"},         {"NIGH_ORDER", "scatter:l3"},  {"NIGH_LOCALITY", "strict"},
      {"NIGH_QUEUE_CAPACITY", "64"}, {"NIGH_TASK_CAPACITY", "100"}, {"NIGH_THREAD_STACK", "16M"},
      {"NIGH_VICTIMS", "ring"},      {"NIGH_CHUNKS", "half"},       {"NIGH_DEPTH_CUTOFF", "5"},
      {"NIGH_QUEUE_CUTOFF", "6"},    {"NIGH_COUNT_TASKS", "1"},     {"NIGH_CPUS", "2,0,1"},
      {"NIGH_SCHEDULE", "guided,8"}, {"NIGH_QUEUE_LEVEL", "l3"}};
  auto const o = nigh::options_from_environment({.pending_limit = 7});
  EXPECT_EQ(o.workers, 3);
  EXPECT_EQ(o.order, nigh::cpu_order::scatter);
  EXPECT_EQ(o.order_level, nigh::level::l3);
  EXPECT_THAT(o.cpus, ::testing::ElementsAre(2, 0, 1));
  EXPECT_EQ(o.mode, nigh::locality::strict);
  EXPECT_EQ(o.queue_level, nigh::level::l3);
  EXPECT_EQ(o.queue_capacity, 64u);
  EXPECT_EQ(o.task_capacity, 100u);
  EXPECT_EQ(o.thread_stack_bytes, 16u << 20);
  EXPECT_EQ(o.victims, nigh::victim_choice::ring);
  EXPECT_EQ(o.chunks, nigh::chunk_choice::half);
  EXPECT_EQ(o.depth_cutoff, 5);
  EXPECT_EQ(o.queue_cutoff, 6);
  EXPECT_TRUE(o.count_tasks);
  EXPECT_EQ(o.loops.kind(), nigh::schedule_kind::guided);
  EXPECT_EQ(o.loops.chunk(), 8u);
  EXPECT_EQ(o.pending_limit, 7u);
}

TEST(Environment, NonsenseIsNamed) {
  struct {
    char const* name;
    char const* value;
  } const nonsense[] = {{"NIGH_WORKERS", "0"},
                        {"NIGH_WORKERS", "-1"},
                        {"NIGH_WORKERS", "2x"},
                        {"NIGH_WORKERS", ""},
                        {"NIGH_WORKERS", "4:"},
                        {"NIGH_WORKERS", "4:oversubscribed"},
                        {"NIGH_WORKERS", "0:oversubscribe"},
                        {"NIGH_WORKERS", "99999999999999999999"},
                        {"NIGH_ORDER", "random"},
                        {"NIGH_ORDER", "compact:"},
                        {"NIGH_ORDER", "compact:floor"},
                        {"NIGH_CPUS", ""},
                        {"NIGH_CPUS", "0,"},
                        {"NIGH_CPUS", "0-1"},
                        {"NIGH_LOCALITY", "Strict"},
                        {"NIGH_QUEUE_LEVEL", "cpu"},
                        {"NIGH_QUEUE_LEVEL", "package"},
                        {"NIGH_QUEUE_CAPACITY", "3"},
                        {"NIGH_QUEUE_CAPACITY", "0"},
                        {"NIGH_TASK_CAPACITY", "0"},
                        {"NIGH_THREAD_STACK", "1T"},
                        {"NIGH_THREAD_STACK", "0"},
                        {"NIGH_THREAD_STACK", "99999999999999999999G"},
                        {"NIGH_VICTIMS", "nearest"},
                        {"NIGH_CHUNKS", "2"},
                        {"NIGH_DEPTH_CUTOFF", "-1"},
                        {"NIGH_SCHEDULE", "fair"},
                        {"NIGH_SCHEDULE", "dynamic,0"},
                        {"NIGH_COUNT_TASKS", "yes"}};
  for (auto const& [name, value] : nonsense) {
    Variable const set(name, value);
    try {
      nigh::options_from_environment();
      ADD_FAILURE() << name << "='" << value << "' was accepted";
    } catch (std::invalid_argument const& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr(name));
      EXPECT_THAT(e.what(), testing::HasSubstr(value));
    }
  }
}

// The machine is not this one: nothing holds the process to fewer cpus.
TEST(Environment, AsksForMoreWorkersThanCpus) {
  auto const machine = nigh::tests::synthetic("pack:1 numa:1 core:4 pu:1");
  {
    Variable const set("NIGH_WORKERS", "16");
    EXPECT_EQ(nigh::options_from_environment({.machine = &machine}).workers, 16);
  }
  Variable const set("NIGH_WORKERS", "12:oversubscribe");
  EXPECT_EQ(nigh::options_from_environment().workers, 12);
  EXPECT_EQ(nigh::options_from_environment({.machine = &machine}).workers, 12);
}

std::string refusal(nigh::runtime_options const& options) {
  try {
    nigh::runtime const rt(options);
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  return {};
}

// Also where only the runtime knows what is wrong.
TEST(Environment, ErrorsNameTheVariable) {
  {
    Variable const set("NIGH_CPUS", "0,99999");
    EXPECT_EQ(refusal(nigh::options_from_environment()),
              "NIGH_CPUS='0,99999': cpu 99999 is not allowed");
    EXPECT_EQ(refusal({.cpus = {88888}}), "runtime_options::cpus: cpu 88888 is not allowed");
  }
  {
    Variable const set("NIGH_TASK_CAPACITY", "99999999");
    EXPECT_EQ(refusal(nigh::options_from_environment()),
              "NIGH_TASK_CAPACITY='99999999': 99999999 is not in 1 .. 16777216");
  }
  {
    Variable const set("NIGH_QUEUE_CAPACITY", "8");
    EXPECT_EQ(refusal({.queue_capacity = 100}),
              "runtime_options::queue_capacity: 100 is not a power of two");
  }
  {
    Variable const set("NIGH_THREAD_STACK", "1");
    EXPECT_THAT(refusal(nigh::options_from_environment()),
                testing::StartsWith("NIGH_THREAD_STACK='1': 1 is not in "));
    EXPECT_THAT(refusal({.thread_stack_bytes = 2}),
                testing::StartsWith("runtime_options::thread_stack_bytes: 2 is not in "));
  }
  Variable const set("NIGH_WORKERS", "5000:oversubscribe");
  EXPECT_EQ(refusal(nigh::options_from_environment()),
            "NIGH_WORKERS='5000:oversubscribe': 5000 workers, more than 1024");
}

TEST(Environment, NotesAreSaidOnce) {
  testing::internal::CaptureStderr();
  int const cpus = static_cast<int>(nigh::this_host().cpus().size());
  for (int i = 0; i < 2; ++i) nigh::runtime const rt(cpus + 1);
  auto const said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "nigh: " + std::to_string(cpus + 1) + " workers on " + std::to_string(cpus) +
                      (cpus == 1 ? " cpu" : " cpus") + " take turns\n");
  Variable const quiet("NIGH_VERBOSE", "0");
  testing::internal::CaptureStderr();
  {
    nigh::runtime const rt(cpus + 2);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Options, ThatCannotBeMet) {
  EXPECT_THROW(nigh::runtime({.task_capacity = 0}), std::invalid_argument);
  EXPECT_THROW(nigh::runtime({.task_capacity = std::size_t{1} << 40}), std::invalid_argument);
  EXPECT_THROW(nigh::runtime({.depth_cutoff = -1}), std::invalid_argument);
  EXPECT_THROW(nigh::runtime({.queue_cutoff = -1}), std::invalid_argument);
}

TEST(DefaultRuntime, IsMadeOnceAndConfiguredBefore) {
  nigh::configure_default_runtime({.workers = 1});
  auto& rt = nigh::default_runtime();
  EXPECT_EQ(rt.workers(), 1);
  EXPECT_EQ(&nigh::default_runtime(), &rt);
  EXPECT_THROW(nigh::configure_default_runtime({}), std::logic_error);
}

// Runs `body` in a child; the test fails unless it returns true.
template <class Body>
void in_child(Body body) {
  auto const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Fork, TheChildHasADefaultRuntimeOfItsOwn) {
  ASSERT_EQ(fib(10), 55);
  in_child([] { return fib(15) == 610; });
  EXPECT_EQ(fib(10), 55);
}

TEST(Fork, TheParentsRuntimeSaysNoInTheChild) {
  auto rt = std::make_unique<nigh::runtime>(nigh::runtime_options{.workers = 1});
  in_child([&] {
    auto const refuses = [](auto f) {
      try {
        f();
      } catch (std::logic_error const&) {
        return true;
      }
      return false;
    };
    bool const spawn = refuses([&] { rt->spawn([] {}); });
    bool const wait = refuses([&] { rt->wait(); });
    bool const near = refuses([&] {
      nigh::task_scope scope(*rt);  // ends, though its task was refused
      scope.spawn(nigh::near(0), [] {});
    });
    bool const invoke = rt->invoke([] { return fib(12); }) == 144;
    rt.reset();
    return spawn && wait && near && invoke;
  });
  long result = 0;
  rt->run([&] { result = fib(12); });
  EXPECT_EQ(result, 144);
}

TEST(Fork, TheChildMayReturnFromInvoke) {
  nigh::runtime rt({.workers = 1});
  pid_t child = -1;
  rt.invoke([&] { child = fork(); });
  if (child == 0) _exit(fib(12) == 144 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Fork, InTheMiddleOfAScopeOutside) {
  nigh::default_runtime().invoke([] {
    in_child([] { return fib(12) == 144; });
    EXPECT_EQ(fib(12), 144);
  });
}

}  // namespace
