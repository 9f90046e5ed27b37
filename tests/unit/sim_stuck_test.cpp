// SPDX-License-Identifier: Apache-2.0
// A simulation that cannot go on says so, with every actor's state: one step of each is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "machines.hpp"
#include "sim/jacobi/loop_sweep.hpp"
#include "sim/jacobi/table1.hpp"
#include "sim/mg/multigrid.hpp"
#include "sim/simulation.hpp"
#include "sim/spread/block_loop.hpp"
#include "sim/temporal/temporal.hpp"

namespace nigh::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <class Run>
std::string complaint(Run run) try {
  run();
  return "none";
} catch (Stuck const& e) {
  return e.what();
}

struct Waiting {
  int come = 0;
  void happen(Event const&) { ++come; }
  void ended(FlowId) { ++come; }
};

TEST(Stuck, IsWhoeverWaitsForWhatIsLost) {
  for (std::uint64_t lost : {0u, 1u, 2u, 3u}) {
    Simulation simulation{LostStep{lost}};
    Waiting actors;
    simulation.events.post(5, 0, 0);
    simulation.events.post(7000, 0, 0);
    simulation.network.start(0, 1e-6, {}, 1);
    auto const all_come = [&] { return actors.come == 3; };
    auto const text =
        complaint([&] { run_to_end(simulation, actors, all_come, [] { return "so it is"; }); });
    EXPECT_EQ(text, lost < 3 ? "sim: nothing can go on at 7.000000 us: so it is" : "none");
  }
}

class StuckOn : public ::testing::Test {
 protected:
  Machine const machine = tests::machine("opteron-4x2");
};

TEST_F(StuckOn, BlocksOfAJacobiSweep) {
  for (bool queues : {false, true}) {
    Jacobi2009Tasks what;
    what.queues = queues;
    EXPECT_THAT(complaint([&] { jacobi_mlups(machine, what, 1, {5000}); }),
                AllOf(HasSubstr(" of 3600 blocks have ended"), HasSubstr("thread 0: "),
                      HasSubstr("thread 7: ")));
  }
}

TEST_F(StuckOn, LayersOfAJacobiLoop) {
  JacobiLoop what;
  what.sockets = 4;
  what.threads = 2;
  for (std::uint64_t lost : {3u, 30u})
    EXPECT_THAT(complaint([&] { jacobi_loop_mlups(machine, what, 1, {lost}); }),
                AllOf(HasSubstr("7 of 8 threads are through with their loop"),
                      HasSubstr(lost == 3 ? ": has not come to it" : ": at step "),
                      HasSubstr("thread 7: ")));
}

TEST_F(StuckOn, LoopsOfMultigrid) {
  MgCase what;
  what.threads = 4;
  what.finest = 5;
  for (std::uint64_t lost : {2u, 40u, 500u})
    EXPECT_THAT(complaint([&] { run_mg(machine, what, 1, {lost}); }),
                AllOf(HasSubstr("3 of 4 threads are through with their loop"),
                      HasSubstr("thread 3: ")));
}

TEST_F(StuckOn, TilesAndSweeps) {
  for (auto way : {TemporalWay::queues, TemporalWay::sweeps}) {
    TemporalCase what;
    what.way = way;
    what.side = 60;
    what.planes = 60;
    what.steps = 8;
    EXPECT_THAT(complaint([&] { run_temporal(machine, what, 1, {20}); }),
                AllOf(HasSubstr(way == TemporalWay::queues ? " tiles have ended\n  worker 0: "
                                                           : "7 of 8 threads are through"),
                      HasSubstr(" 7: ")));
  }
}

TEST_F(StuckOn, BlocksThatWaitForBorders) {
  BlockLoop what;
  what.grid = 4;
  what.edge = 64;
  what.spread = 1;
  what.sends = true;
  EXPECT_THAT(complaint([&] { simulate_blocks(machine, what, 1, {100}); }),
              AllOf(HasSubstr(" of 16 blocks have ended"), HasSubstr("\n  block "),
                    HasSubstr("waiting for borders"), HasSubstr("\n  team 7: ")));
}

}  // namespace
}  // namespace nigh::sim
