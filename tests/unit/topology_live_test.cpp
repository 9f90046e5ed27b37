// SPDX-License-Identifier: Apache-2.0
// This host, in so far as it is like any other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nigh/topology.hpp>
#include <thread>
#include <vector>

#include "platform/affinity.hpp"

namespace nigh {
namespace {

TEST(Live, OffersNoMoreThanTheAffinityMask) {
  auto const mask = platform::affinity_of_this_thread();
  auto const t = topology::live().value();
  if (!t.is_this_host()) GTEST_SKIP() << "hwloc is told to show another machine";
  EXPECT_THAT(t.cpus(), testing::UnorderedElementsAreArray(mask));
  EXPECT_GE(t.cpu_domains(), 1);
}

TEST(Live, FollowsTheMaskOfTheCallingThread) {
  auto const t = topology::live().value();
  if (!t.is_this_host()) GTEST_SKIP() << "hwloc is told to show another machine";
  std::vector<int> const last{t.cpus().back()};
  std::vector<int> seen;
  std::thread([&] {
    if (platform::pin_this_thread(last).ok()) seen = topology::live().value().cpus();
  }).join();
  EXPECT_EQ(seen, last);
  EXPECT_EQ(topology::live().value().cpus(), t.cpus()) << "ours is as it was";
}

// A process whose first use of nigh this is: one thread reads the machine while another forks.
TEST(ThisHostDeathTest, IsReadByChildrenOfThreadsBesideTheOneThatReadsIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const reads_beside_a_fork = [](int delay_us) {
    std::thread first([] { this_host(); });
    usleep(static_cast<useconds_t>(delay_us));
    pid_t const child = fork();
    if (child == 0) {
      alarm(60);
      this_host();
      // In _exit() ThreadSanitizer complains of threads that are not joined: the parent's are not yet.
      ::syscall(SYS_exit_group, 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    first.join();
    _exit(WIFEXITED(status) ? 3 : 4);
  };
  for (int const delay_us : {200, 700, 1500, 3000})
    EXPECT_EXIT(reads_beside_a_fork(delay_us), testing::ExitedWithCode(3), "^$");
}

TEST(ThisHost, IsReadOnce) { EXPECT_EQ(&this_host(), &this_host()); }

}  // namespace
}  // namespace nigh
