// SPDX-License-Identifier: Apache-2.0
// Which programs' cgroups are read, and when, whatever programs other users have.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <nigh/topology.hpp>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/server/watches.hpp"
#include "temporary_tree.hpp"

namespace nigh::coordinator {
namespace {

constexpr unsigned greedy = 1001, victim = 1002;

// Each program is this process, and so in its cgroup: a change of the quota shows when it is read.
class CgroupWatches : public test::TemporaryTree {
 protected:
  void SetUp() override {
    TemporaryTree::SetUp();
    file("proc/" + std::to_string(::getpid()) + "/cgroup", "0::/box");
    quota(1);
  }
  void quota(int cpus) const {
    file("sys/fs/cgroup/box/cpu.max", std::to_string(cpus) + "00000 100000");
  }
  static Peer of(unsigned user) {
    return {user, ::getpid(), {::getpid(), platform::start_of(::getpid())}};
  }
  bool come(CgroupWatch& watch, Connection program, unsigned user) {
    return !watch.come(program, of(user), machine_, now_).empty();
  }
  // The programs that were read: they learn of the quota that has changed.
  std::vector<Connection> look(CgroupWatch& watch) {
    now_ = std::max(now_, watch.due().value());
    std::vector<Connection> read;
    for (auto const& change : watch.look(machine_, now_))
      read.push_back(std::get<Bound>(change).connection);
    return read;
  }
  std::vector<Connection> round(CgroupWatch& watch,
                                std::vector<std::pair<std::uint32_t, Connection>> holders = {}) {
    now_ += 500'000;
    watch.begin_round(holders, now_);
    std::vector<Connection> all;
    while (watch.due())
      for (auto const c : look(watch)) all.push_back(c);
    return all;
  }

  policy::CoreMap machine_ =
      policy::CoreMap::of(*topology::from_synthetic("pack:1 numa:1 core:64 pu:1"));
  Time now_ = 1'000'000;
};

TEST_F(CgroupWatches, AUserWithThousandsOfProgramsDelaysNoOtherUser) {
  CgroupWatch watch(root_, 1'000'000);
  for (Connection c = 1; c <= 4000; ++c) come(watch, c, greedy);
  come(watch, 4001, victim);
  for (int const cpus : {2, 3, 4}) {
    quota(cpus);
    auto const read = round(watch, {{victim, 4001}});
    EXPECT_EQ(read.size(), CgroupWatch::most_in_a_round);
    EXPECT_EQ(std::count(read.begin(), read.end(), 4001), 1) << "of a quota of " << cpus;
  }
}

TEST_F(CgroupWatches, ProgramsThatHoldCpusComeFirstAndNoOthersAreForgotten) {
  CgroupWatch watch(root_, 0);
  for (Connection c = 1; c <= 200; ++c) come(watch, c, victim);
  std::vector<std::pair<std::uint32_t, Connection>> holders;
  for (Connection c = 101; c <= 200; ++c) holders.emplace_back(victim, c);
  quota(2);
  // On a slow machine most were not read when they came.
  for (std::size_t read = 0; read < 200; read += CgroupWatch::most_in_a_round) round(watch);
  std::vector<bool> is_read(201);
  for (int rounds = 0; rounds < 8; ++rounds) {
    quota(3 + rounds);
    auto const read = round(watch, holders);
    EXPECT_EQ(read.size(), CgroupWatch::most_in_a_round);
    EXPECT_GE(std::count_if(read.begin(), read.end(), [](Connection c) { return c > 100; }), 32);
    for (auto const c : read) is_read[c] = true;
  }
  EXPECT_EQ(std::count(is_read.begin(), is_read.end(), true), 200);
}

// A look that takes too long ends, and the next one goes on from there.
TEST_F(CgroupWatches, ALookEndsAfterItsTime) {
  CgroupWatch watch(root_, 0);
  for (Connection c = 1; c <= 3; ++c) come(watch, c, victim);
  come(watch, 4, greedy);
  quota(2);
  watch.begin_round({}, now_);
  std::vector<Connection> read;
  for (int looks = 1; looks <= 4; ++looks) {
    ASSERT_TRUE(watch.due());
    auto const some = look(watch);
    ASSERT_EQ(some.size(), 1u);
    read.push_back(some.front());
  }
  EXPECT_FALSE(watch.due()) << "all were read";
  EXPECT_TRUE(read[0] == 4 || read[1] == 4) << "users take turns";
  std::sort(read.begin(), read.end());
  EXPECT_EQ(read, (std::vector<Connection>{1, 2, 3, 4}));
}

TEST_F(CgroupWatches, ProgramsThatComeTooFastAreReadInTheNextRound) {
  CgroupWatch watch(root_);
  Connection program = 0;
  while (come(watch, ++program, greedy)) ASSERT_LT(program, 100'000u) << "there is no limit";
  EXPECT_TRUE(come(watch, program + 1, victim)) << "each user has a limit of its own";
  auto const read = round(watch);
  ASSERT_FALSE(read.empty());
  EXPECT_EQ(read.front(), program);
  EXPECT_TRUE(come(watch, program + 2, greedy)) << "the user waited for half a second";
}

TEST_F(CgroupWatches, AProgramThatHasLeftIsNotRead) {
  CgroupWatch watch(root_, 0);
  for (Connection c = 1; c <= 3; ++c) come(watch, c, victim);
  quota(2);
  watch.begin_round({{victim, 2}, {victim, 77}, {greedy, 3}}, now_);
  watch.leave(2, victim);
  std::vector<Connection> read;
  while (watch.due())
    for (auto const c : look(watch)) read.push_back(c);
  EXPECT_EQ(read, (std::vector<Connection>{1, 3}));
  watch.leave(1, victim), watch.leave(3, victim), watch.leave(3, greedy);
  EXPECT_TRUE(round(watch).empty());
}

}  // namespace
}  // namespace nigh::coordinator
