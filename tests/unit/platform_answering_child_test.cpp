// SPDX-License-Identifier: Apache-2.0
#include "platform/answering_child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace nigh::platform {
namespace {

using Answer = AnsweringChild::Answer;
using Said = std::optional<std::string>;

// Takes so much memory, which a compiler that sees no use of it would leave out. Returns its first byte.
std::string taken(std::size_t bytes) {
  std::vector<char> const room(bytes, 'x');
  auto const* volatile seen = room.data();
  return {*seen};
}

constexpr ChildLimits usual{.memory_bytes = std::uint64_t{256} << 20, .answer_bytes = 1'000'000};

TEST(DoApart, ReturnsWhatTheChildSays) {
  std::string const long_one(900'000, 'x');
  EXPECT_EQ(do_apart([&] { return std::optional(long_one); }, usual).value(), long_one);
  EXPECT_EQ(do_apart([] { return std::optional(std::string()); }, usual).value(), "");
  EXPECT_FALSE(do_apart([] { return std::optional<std::string>(); }, usual).value());
}

TEST(DoApart, SurvivesItsCrash) {
  for (int const way : {0, 1, 2}) {
    auto const got = do_apart(
        [way]() -> std::optional<std::string> {
          if (way == 0) std::abort();
          if (way == 1) ::_exit(0);
          throw std::bad_alloc();
        },
        usual);
    ASSERT_TRUE(got) << way;
    EXPECT_FALSE(*got) << way;
  }
}

TEST(DoApart, HasLimits) {
  auto const too_much = do_apart([] { return std::optional(std::string(2'000'000, 'x')); }, usual);
  EXPECT_FALSE(too_much.value());
  auto const too_large = do_apart(
      [] { return std::optional(taken(std::size_t{1} << 30)); }, usual);
  EXPECT_FALSE(too_large.value());
  auto endless = usual;
  endless.answer_time = std::chrono::seconds(1);
  auto const never = do_apart(
      []() -> std::optional<std::string> {
        for (;;) ::pause();
      },
      endless);
  EXPECT_FALSE(never.value());
}

TEST(DoApart, HasNoHandlerAndNoDescriptorOfItsParent) {
  constexpr int file = 50;
  ASSERT_EQ(::dup2(STDERR_FILENO, file), file);
  auto* const before = ::signal(SIGUSR1, [](int) {});
  auto const got = do_apart(
      [] {
        bool const is_default = ::signal(SIGUSR1, SIG_DFL) == SIG_DFL;
        return Said(std::string(is_default ? "default" : "kept") +
                    (::fcntl(file, F_GETFD) < 0 ? ", closed" : ", open"));
      },
      usual);
  ::signal(SIGUSR1, before);
  ::close(file);
  EXPECT_EQ(got.value(), "default, closed");
}

TEST(DoApart, TakesNoMoreThanItsParentMay) {
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_CPU, &old), 0);
  rlimit small = old;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_CPU, &small), 0);
  auto limits = usual;
  limits.processor_time = std::chrono::seconds(5000);
  auto const got = do_apart(
      [] {
        rlimit now{};
        ::getrlimit(RLIMIT_CPU, &now);
        return Said(std::to_string(now.rlim_cur));
      },
      limits);
  ::setrlimit(RLIMIT_CPU, &old);
  EXPECT_EQ(got.value(), "1000");
}

TEST(AnsweringChild, AnswersOneQuestionAfterTheOther) {
  auto child = AnsweringChild::start(usual, []() -> Answer {
    return [asked = 0](std::string_view question) mutable {
      return Said(std::to_string(++asked) + std::string(question));
    };
  });
  ASSERT_TRUE(child);
  EXPECT_EQ(child->ask("a"), "1a");
  EXPECT_EQ(child->ask(""), "2");
  std::string const long_one(900'000, 'x');
  EXPECT_EQ(child->ask(long_one), "3" + long_one);
}

TEST(AnsweringChild, TakesNoLateAnswerForThatToTheNextQuestion) {
  auto limits = usual;
  limits.answer_time = std::chrono::seconds(1);
  auto child = AnsweringChild::start(limits, []() -> Answer {
    return [](std::string_view question) {
      if (question == "late") ::usleep(1'200'000);
      return Said(question);
    };
  });
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->ask("late"));
  ::usleep(400'000);
  EXPECT_FALSE(child->ask("next"));
}

TEST(AnsweringChild, HasMoreMemoryWhenItIsAllowedMore) {
  auto limits = usual;
  limits.memory_bytes = 1 << 20;
  auto child = AnsweringChild::start(limits, []() -> Answer {
    return [](std::string_view question) {
      constexpr std::size_t much = std::size_t{600} << 20;
      if (question == "more") allow_memory(2 * much);
      return Said(taken(much));
    };
  });
  ASSERT_TRUE(child);
  auto again = AnsweringChild(std::move(child).value());
  EXPECT_EQ(again.ask("more"), "x");
  auto small = AnsweringChild::start(limits, []() -> Answer {
    return [](std::string_view) {
      constexpr std::size_t much = std::size_t{600} << 20;
      return Said(taken(much));
    };
  });
  EXPECT_FALSE(small.value().ask("as it is"));
}

TEST(AnsweringChild, HasTheRightsOfTheUserItIsFor) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  auto limits = usual;
  limits.user = User{4321, 4322, false};
  auto const got = do_apart(
      [] {
        return Said(std::to_string(::geteuid()) + ' ' + std::to_string(::getegid()) + ' ' +
                    std::to_string(::getgroups(0, nullptr)) +
                    (::setuid(0) == 0 ? " root" : " never root"));
      },
      limits);
  EXPECT_EQ(got.value(), "4321 4322 0 never root");
}

// A process that another one traces stays in the table of processes until the tracer has looked, as
// one does that waits for a file of FUSE. Says both processes, or why that could not be arranged.
Said traced_by_a_sleeper() {
  int ends[2];
  if (::pipe(ends) != 0) return Said("no pipe");
  ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  int const traced = ::getpid();
  int const sleeper = ::fork();
  if (sleeper == 0) {
    char const done = ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0 ? 't' : 'n';
    if (::write(ends[1], &done, 1) != 1 || done == 'n') ::_exit(1);
    ::sleep(60);
    ::_exit(0);
  }
  char is_traced = 'n';
  if (::read(ends[0], &is_traced, 1) != 1) return Said("no word");
  if (is_traced != 't') return Said("not allowed");
  return Said(std::to_string(traced) + ' ' + std::to_string(sleeper));
}

TEST(AnsweringChild, ThatCannotBeKilledKeepsNobodyWaiting) {
  auto child = AnsweringChild::start(usual, []() -> Answer {
    return [](std::string_view) { return traced_by_a_sleeper(); };
  });
  ASSERT_TRUE(child);
  std::istringstream said(child->ask("").value_or(""));
  int traced = 0, sleeper = 0;
  if (!(said >> traced >> sleeper)) GTEST_SKIP() << "this system lets no process trace another";
  auto const began = std::chrono::steady_clock::now();
  { auto const ends_here = std::move(child).value(); }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
  EXPECT_EQ(::waitpid(traced, nullptr, WNOHANG), 0) << "its tracer has not looked";

  ::kill(sleeper, SIGKILL);
  auto const is_left = [&] {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(traced), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  };
  auto const until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (is_left() && std::chrono::steady_clock::now() < until)
    EXPECT_EQ(do_apart([] { return Said("x"); }, usual).value(), "x");
  EXPECT_FALSE(is_left()) << "a later child's end has waited for it";
}

}  // namespace
}  // namespace nigh::platform
