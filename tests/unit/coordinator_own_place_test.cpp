// SPDX-License-Identifier: Apache-2.0
// On which cpus a server's thread may run, with real requests. The policy's test is
// policy_server_place_test.cpp.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "platform/affinity.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {

using Cpus = std::vector<int>;

Cpus cpus_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(thread, sizeof set, &set), 0);
  Cpus cpus;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  return cpus;
}

void put(pid_t thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  EXPECT_EQ(::sched_setaffinity(thread, sizeof set, &set), 0);
}

class OwnPlaceOfServer : public ::testing::Test {
 protected:
  OwnPlaceOfServer() : all(platform::affinity_of_this_thread()), server({}, 1000, {}, all) {}
  void SetUp() override {
    if (all.size() < 2 || all.back() >= CPU_SETSIZE) GTEST_SKIP() << "there is one cpu only";
    ASSERT_TRUE(platform::pin_this_thread(Cpus{here()}));
    ASSERT_TRUE(program.join(server.options()));
  }
  void TearDown() override { ASSERT_TRUE(platform::pin_this_thread(all)); }

  int here() const { return all[1]; }
  void ask() {
    for (int i = 0; i < 2; ++i) {  // the second is read after the server has moved for the first
      client.enter(1, {++threads, threads});
      client.leave(1000);
    }
  }
  Cpus cpus_of_server() const { return cpus_of(server.thread()); }
  bool comes_to(Cpus const& cpus) const {
    for (int i = 0; i < 10'000 && cpus_of_server() != cpus; ++i) ::usleep(1000);
    return cpus_of_server() == cpus;
  }

  Cpus all;
  RunningServer server;
  ClientConnection program;
  LeaseClient client{program};
  std::uint32_t threads = 1;
};

TEST_F(OwnPlaceOfServer, IsBesideTheOnlyOneThatAsks) {
  EXPECT_EQ(cpus_of_server(), all);
  ask();
  EXPECT_EQ(cpus_of_server(), Cpus{here()});
}

TEST_F(OwnPlaceOfServer, IsAnywhereWhenASecondProgramComes) {
  ask();
  ASSERT_EQ(cpus_of_server(), Cpus{here()});
  ClientConnection second;
  ASSERT_TRUE(second.join(server.options()));
  EXPECT_EQ(cpus_of_server(), all) << "before it answers";
}

TEST_F(OwnPlaceOfServer, IsAnywhereWhenSomebodyLooks) {
  ask();
  ASSERT_EQ(cpus_of_server(), Cpus{here()});
  ASSERT_TRUE(query_status(server.socket()));
  EXPECT_EQ(cpus_of_server(), all);
}

TEST_F(OwnPlaceOfServer, IsAnywhereWhenNobodyAsksAnyMore) {
  ask();
  ASSERT_EQ(cpus_of_server(), Cpus{here()});
  EXPECT_TRUE(comes_to(all)) << "after two looks, a second";
}

TEST_F(OwnPlaceOfServer, IsWhereSomebodyElseHasPutIt) {
  put(server.thread(), all[0]);
  ask();
  EXPECT_EQ(cpus_of_server(), Cpus{all[0]});
}

TEST_F(OwnPlaceOfServer, IsLeftWhereSomebodyElseHasPutItMeanwhile) {
  ask();
  put(server.thread(), all[0]);
  ASSERT_TRUE(query_status(server.socket()));
  EXPECT_EQ(cpus_of_server(), Cpus{all[0]});
}

// A thread that begins with the first thing there is to remember.
TEST_F(OwnPlaceOfServer, IsNotForWhatItStarts) {
  Cpus of_keeper;
  ASSERT_TRUE(platform::pin_this_thread(all));
  RunningServer keeps({}, 1000,
                      {.recall = {},
                       .look = {},
                       .remember =
                           [&](KnownProgram const&, std::vector<KnownRegion> const&) {
                             of_keeper = platform::affinity_of_this_thread();
                           }},
                      all);
  ASSERT_TRUE(platform::pin_this_thread(Cpus{here()}));
  {
    auto options = keeps.options();
    options.binary = 17;
    ClientConnection taught;
    ASSERT_TRUE(taught.join(options));
    LeaseClient its(taught);
    for (std::uint32_t size = 2; size < 4; ++size) {
      its.enter(1, {size, size});
      its.leave(2 * Report::every_ns);
    }
    EXPECT_EQ(cpus_of(keeps.thread()), Cpus{here()});
  }
  keeps.stop();
  EXPECT_EQ(of_keeper, all);
}

}  // namespace
}  // namespace nigh::coordinator
