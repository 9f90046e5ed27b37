// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>
#include <string>
#include <vector>

#include "cli/pools.hpp"

namespace nigh::cli {
namespace {

using Names = std::vector<std::string>;

// As nighd describes a program of this process.
ProgramProcess this_process() {
  return {{::getpid(), platform::start_of(::getpid())}, ::geteuid()};
}
Names pools_of(ProgramProcess const& process) { return PoolNames().of(process); }

TEST(Pools, AreFoundInWhatAProcessHasLoaded) {
  EXPECT_EQ(pools_of(this_process()), Names{});
  ASSERT_NE(::dlopen(NIGH_TBB_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(pools_of(this_process()), Names{"oneTBB"});
  ASSERT_NE(::dlopen(NIGH_RAYON_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(pools_of(this_process()), (Names{"oneTBB", "rayon"}));
}

TEST(Pools, OfAProcessThatIsNotThereAreNone) {
  EXPECT_EQ(pools_of({{std::numeric_limits<int>::max(), 1}, ::geteuid()}), Names{});
  EXPECT_EQ(pools_of({{-1, 1}, ::geteuid()}), Names{});
}

// The number of a process that has ended is given to another one.
TEST(Pools, OfAnEndedProcessAreNotThoseOfTheNextOneWithItsNumber) {
  ASSERT_NE(::dlopen(NIGH_TBB_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  ASSERT_NE(pools_of(this_process()), Names{});
  auto earlier = this_process();
  --earlier.identity.started;
  EXPECT_EQ(pools_of(earlier), Names{});
  auto unknown = this_process();
  unknown.identity.started = 0;
  EXPECT_EQ(pools_of(unknown), Names{});
  auto anothers = this_process();
  ++anothers.user;
  EXPECT_EQ(pools_of(anothers), Names{});
}

TEST(Pools, AreListed) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"OpenBLAS", "numba"}), "OpenBLAS, numba");
}

}  // namespace
}  // namespace nigh::cli
