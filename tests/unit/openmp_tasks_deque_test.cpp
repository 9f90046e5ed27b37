// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/task_deque.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <vector>

namespace nigh::openmp::tasks {
namespace {

using testing::ElementsAre;

struct Job {
  int parent, number;
};

// A deque in which all tasks are shared.
struct Shared {
  explicit Shared(std::vector<Job> some) : jobs(std::move(some)) {
    deque.begin(16, false);
    for (Job& job : jobs) EXPECT_TRUE(deque.push(&job));
    deque.publish_all();
  }

  // The numbers of those that a thief gets who asks for so many.
  std::vector<int> stolen(std::uint32_t most, int not_from = -1) {
    std::array<Job*, 4> taken{};
    std::uint32_t count = 0;
    auto const how = deque.steal(
        taken, count, [=](std::uint32_t shared) { return std::min(most, shared); },
        [=](Job const& job) { return job.parent != not_from; },
        [](Job const& a, Job const& b) { return a.parent == b.parent; });
    last = how;
    std::vector<int> numbers;
    for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(taken[i]->number);
    return numbers;
  }

  std::vector<Job> jobs;
  TaskDeque<Job, 16> deque;
  Steal last = Steal::empty;
};

TEST(TaskDeque, AChunkIsOfSiblings) {
  Shared s({{1, 10}, {1, 11}, {2, 20}, {1, 12}, {1, 13}});
  EXPECT_THAT(s.stolen(4), ElementsAre(10, 11));
  EXPECT_THAT(s.stolen(4), ElementsAre(20));
  EXPECT_THAT(s.stolen(1), ElementsAre(12));
  EXPECT_THAT(s.stolen(4), ElementsAre(13));
  EXPECT_THAT(s.stolen(4), ElementsAre());
  EXPECT_EQ(s.last, Steal::empty);
}

TEST(TaskDeque, TheOldestMayBarTheOthers) {
  Shared s({{1, 10}, {2, 20}});
  EXPECT_THAT(s.stolen(4, 1), ElementsAre());
  EXPECT_EQ(s.last, Steal::barred);
  EXPECT_THAT(s.stolen(4, 2), ElementsAre(10));
}

TEST(TaskDeque, WhatIsStolenIsNotPopped) {
  Shared s({{1, 10}, {1, 11}, {1, 12}});
  EXPECT_THAT(s.stolen(2), ElementsAre(10, 11));
  ASSERT_NE(s.deque.top(), 0u);
  Job* const last = s.deque.pop(0);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->number, 12);
  EXPECT_EQ(s.deque.pop(0), nullptr);
}

TEST(TaskDeque, AnotherThreadSharesWhatTheOwnerHasKept) {
  Job a{1, 10}, b{1, 11};
  TaskDeque<Job, 16> deque;
  deque.begin(16, false);
  auto const help = [&] { return deque.publish_for_owner([] {}); };
  EXPECT_FALSE(help()) << "it is empty";
  ASSERT_TRUE(deque.push(&a) && deque.push(&b));
  EXPECT_FALSE(deque.has_shared());
  EXPECT_TRUE(help());
  EXPECT_TRUE(deque.has_shared());
  EXPECT_FALSE(deque.has_private());
  EXPECT_FALSE(help()) << "all is shared";
  EXPECT_EQ(deque.pop(0), &b);
  EXPECT_EQ(deque.pop(0), &a);
  EXPECT_EQ(deque.pop(0), nullptr);
  EXPECT_FALSE(help());
  EXPECT_TRUE(deque.push(&a));
  EXPECT_EQ(deque.pop(0), &a);
}

TEST(TaskDeque, AChildOfForkDoesNotWaitForAThreadThatHelped) {
  Job a{1, 10}, b{1, 11}, c{1, 12};
  TaskDeque<Job, 16> deque;
  deque.begin(16, false);
  ASSERT_TRUE(deque.push(&a));
  deque.publish_all();
  ASSERT_TRUE(deque.push(&b) && deque.push(&c));
  std::vector<pid_t> children;
  EXPECT_TRUE(deque.publish_for_owner([&] {
    children.push_back(fork());
    if (children.back() != 0) return;
    deque.forget_helper();
    bool const has_all = deque.pop(0) == &c && deque.pop(0) == &b && deque.pop(0) == &a;
    _exit(has_all && deque.pop(0) == nullptr ? 0 : 1);
  }));
  for (pid_t const child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(children.size(), 2u);
}

}  // namespace
}  // namespace nigh::openmp::tasks
