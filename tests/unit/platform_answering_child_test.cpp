// SPDX-License-Identifier: Apache-2.0
#include "platform/answering_child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>
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

}  // namespace
}  // namespace nigh::platform
