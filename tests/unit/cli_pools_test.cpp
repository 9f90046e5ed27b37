// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cli/pools.hpp"
#include "platform/affinity.hpp"

namespace nigh::cli {
namespace {

using Names = std::vector<std::string>;

// As nighd describes a program of this process.
coordinator::Status this_process() {
  coordinator::Status program;
  program.pid = static_cast<std::uint32_t>(::getpid());
  program.started = platform::start_of(::getpid());
  program.user = ::geteuid();
  return program;
}
Names pools_of(coordinator::Status const& program) {
  coordinator::Status host;
  host.cpus = 2;
  return PoolNames().of(program, host);
}

TEST(Pools, AreFoundInWhatAProcessHasLoaded) {
  EXPECT_EQ(pools_of(this_process()), Names{});
  ASSERT_NE(::dlopen(NIGH_TBB_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(pools_of(this_process()), Names{"oneTBB"});
  ASSERT_NE(::dlopen(NIGH_RAYON_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(pools_of(this_process()), (Names{"oneTBB", "rayon"}));
}

TEST(Pools, OfAProcessThatIsNotThereAreNone) {
  auto program = this_process();
  program.pid = std::numeric_limits<int>::max();
  EXPECT_EQ(pools_of(program), Names{});
  program.pid = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(pools_of(program), Names{});
}

// The number of a process that has ended is given to another one.
TEST(Pools, OfAnEndedProcessAreNotThoseOfTheNextOneWithItsNumber) {
  ASSERT_NE(::dlopen(NIGH_TBB_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  ASSERT_NE(pools_of(this_process()), Names{});
  auto earlier = this_process();
  --earlier.started;
  EXPECT_EQ(pools_of(earlier), Names{});
  auto unknown = this_process();
  unknown.started = 0;
  EXPECT_EQ(pools_of(unknown), Names{});
  auto anothers = this_process();
  ++anothers.user;
  EXPECT_EQ(pools_of(anothers), Names{});
}

// As those of a block of Python's nigh.limit().
TEST(Pools, ThatKeepToTheCpusOfTheirProgramAreNotNamed) {
  ASSERT_NE(::dlopen(NIGH_TBB_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  auto program = this_process();
  int const cpu = platform::affinity_of_this_thread().front();
  program.held = 1;
  program.holds.add(cpu);
  std::thread pinned([&] {  // its child has one thread, which is pinned, too
    ASSERT_TRUE(platform::pin_this_thread(std::array{cpu}));
    auto const child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    program.pid = static_cast<std::uint32_t>(child);
    program.started = platform::start_of(child);
    EXPECT_EQ(pools_of(program), Names{});
    program.holds = {};
    program.holds.add(cpu + 1);
    EXPECT_NE(pools_of(program), Names{});
    program.holds.add(cpu);
    program.held = 2;  // all of the host
    EXPECT_NE(pools_of(program), Names{});
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  });
  pinned.join();
}

TEST(Pools, AreListed) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"OpenBLAS", "numba"}), "OpenBLAS, numba");
}

}  // namespace
}  // namespace nigh::cli
