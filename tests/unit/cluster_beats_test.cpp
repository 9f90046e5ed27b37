// SPDX-License-Identifier: Apache-2.0
// A rank's beats, and the ends of other processes of its host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/beats.hpp"
#include "platform/process_identity.hpp"

namespace {

using nigh::cluster::Beats;
using nigh::cluster::RankProcess;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// A process that waits to be killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ > 0) return;
    for (;;) ::pause();
  }
  ~Child() { end(); }
  Child(Child&&) = delete;
  int pid() const { return pid_; }
  void kill() const { ::kill(pid_, SIGKILL); }
  void end() {
    if (pid_ <= 0) return;
    kill();
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_;
};

// Notes the calls of a thread of Beats.
class Heard {
 public:
  Beats::Calls calls() {
    return {[this] {
              std::lock_guard const guard(lock_);
              ++beats_;
            },
            [this](int rank) {
              std::lock_guard const guard(lock_);
              ended_.push_back(rank);
            }};
  }
  int beats() {
    std::lock_guard const guard(lock_);
    return beats_;
  }
  std::vector<int> ended() {
    std::lock_guard const guard(lock_);
    return ended_;
  }
  std::vector<int> when_so_many_have_ended(std::size_t count) {
    while (ended().size() < count) std::this_thread::yield();
    return ended();
  }

 private:
  std::mutex lock_;
  int beats_ = 0;
  std::vector<int> ended_;
};

TEST(Beats, GoOnUntilTheirEnd) {
  Heard heard;
  auto beats = Beats::start(1000, heard.calls(), {});
  ASSERT_TRUE(beats);
  while (heard.beats() < 3) std::this_thread::yield();
  beats->reset();
  auto const last = heard.beats();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(heard.beats(), last);
}

TEST(Beats, TellWhichProcessHasEndedOnce) {
  Child one, two, three;
  Heard heard;
  std::vector<RankProcess> const processes{{4, one.pid()}, {7, two.pid()}, {9, three.pid()}};
  auto beats = Beats::start(0, heard.calls(), processes);
  ASSERT_TRUE(beats);
  two.kill();  // and remains as a zombie: its launcher has not looked yet
  EXPECT_THAT(heard.when_so_many_have_ended(1), ElementsAre(7));
  one.end();
  EXPECT_THAT(heard.when_so_many_have_ended(2), ElementsAre(7, 4));
  two.end();
  beats->reset();
  three.end();
  EXPECT_THAT(heard.ended(), ElementsAre(7, 4));
  EXPECT_EQ(heard.beats(), 0);
}

TEST(Beats, TellOfAllThatEndAtOnce) {
  std::vector<std::unique_ptr<Child>> children;
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < 3; ++rank) {
    children.push_back(std::make_unique<Child>());
    processes.push_back({rank, children.back()->pid()});
  }
  Heard heard;
  auto const beats = Beats::start(1000, heard.calls(), processes);
  ASSERT_TRUE(beats);
  for (auto const& child : children) child->kill();
  EXPECT_THAT(heard.when_so_many_have_ended(3), UnorderedElementsAre(0, 1, 2));
}

TEST(Beats, GoOnWithoutAProcessThatIsGone) {
  Child gone, there;
  int const pid = gone.pid();
  gone.end();
  Heard heard;
  std::vector<RankProcess> const processes{{1, pid}, {2, there.pid()}, {3, -1}};
  auto const beats = Beats::start(0, heard.calls(), processes);
  ASSERT_TRUE(beats);
  there.kill();
  EXPECT_THAT(heard.when_so_many_have_ended(1), ElementsAre(2));
}

TEST(PidNamespace, IsTheSameInAChild) {
  auto const mine = nigh::platform::pid_namespace();
  EXPECT_NE(mine, 0u);
  auto const child = ::fork();
  if (child == 0) ::_exit(nigh::platform::pid_namespace() == mine ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
