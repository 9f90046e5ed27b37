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

TEST(Pools, AreFoundInWhatAProcessHasLoaded) {
  EXPECT_EQ(pools_of(::getpid()), Names{});
  ASSERT_NE(::dlopen(NIGH_TBB_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(pools_of(::getpid()), Names{"oneTBB"});
  ASSERT_NE(::dlopen(NIGH_RAYON_EXAMPLE, RTLD_NOW), nullptr) << ::dlerror();
  EXPECT_EQ(pools_of(::getpid()), (Names{"oneTBB", "rayon"}));
}

TEST(Pools, OfAProcessThatIsNotThereAreNone) {
  EXPECT_EQ(pools_of(std::numeric_limits<int>::max()), Names{});
  EXPECT_EQ(pools_of(-1), Names{});
}

TEST(Pools, AreListed) {
  EXPECT_EQ(listed({}), "");
  EXPECT_EQ(listed({"OpenBLAS", "numba"}), "OpenBLAS, numba");
}

}  // namespace
}  // namespace nigh::cli
