// SPDX-License-Identifier: Apache-2.0
// The queue of profiles to be read and written, which all users share.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "coordinator/server/region_memory.hpp"

namespace {

using nigh::coordinator::Connection;
using nigh::coordinator::Keeper;
using nigh::coordinator::KnownProgram;
using nigh::coordinator::Recollection;
using nigh::coordinator::RegionMemory;

constexpr unsigned hostile_user = 1000, other_user = 1001;

KnownProgram program_of(unsigned user) {
  return {.name = "a", .path = {}, .binary = 7, .user = user};
}

// A keeper whose first job waits until the test opens the gate, and which notes whose jobs it does.
struct GatedKeeper {
  std::promise<void> gate;
  std::shared_future<void> is_open{gate.get_future()};
  std::promise<void> begun;
  std::mutex lock;  // of what follows
  std::vector<unsigned> users;

  Keeper keeper() {
    return {.recall =
                [this](KnownProgram const& program) {
                  {
                    std::lock_guard const guard(lock);
                    users.push_back(program.user);
                    if (users.size() == 1) begun.set_value();
                  }
                  is_open.wait();
                  return Recollection{program, {}};
                },
            .look = {},
            .remember = {}};
  }
};

TEST(RegionMemory, HasRoomForTheProgramsOfAUserWhileAnotherUserAsksForMany) {
  GatedKeeper gated;
  std::size_t asked = 0;
  {
    RegionMemory memory(gated.keeper());
    while (asked < 10'000 && memory.recall(++asked, program_of(hostile_user))) {
    }
    EXPECT_LT(asked, 10'000U) << "the queue has a bound";
    EXPECT_TRUE(memory.recall(20'000, program_of(other_user)));
    gated.gate.set_value();
  }
}

TEST(RegionMemory, ServesUsersRoundRobin) {
  GatedKeeper gated;
  RegionMemory memory(gated.keeper());
  EXPECT_TRUE(memory.recall(1, program_of(hostile_user)));
  gated.begun.get_future().wait();  // so that all that follows waits in the queue
  for (Connection c = 2; c < 102; ++c) EXPECT_TRUE(memory.recall(c, program_of(hostile_user)));
  for (Connection c = 200; c < 203; ++c) EXPECT_TRUE(memory.recall(c, program_of(other_user)));
  gated.gate.set_value();
  std::size_t recalled = 0;
  while (recalled < 104) {
    recalled += memory.take_recalled().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::lock_guard const guard(gated.lock);
  std::vector<unsigned> const first(gated.users.begin(), gated.users.begin() + 7);
  EXPECT_EQ(first, (std::vector<unsigned>{hostile_user, hostile_user, other_user, hostile_user,
                                          other_user, hostile_user, other_user}));
}

}  // namespace
