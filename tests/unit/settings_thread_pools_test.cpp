// SPDX-License-Identifier: Apache-2.0
// Which pool a file brings is asserted in settings/thread_pools.hpp, too.
#include "settings/thread_pools.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace nigh::settings {
namespace {

TEST(ThreadPools, HaveOneNameEach) {
  std::set<std::string_view> names;
  for (auto const& pool : thread_pools) {
    EXPECT_TRUE(names.insert(pool.name).second) << pool.name;
    EXPECT_EQ(pool_named(pool.name), &pool);
  }
  EXPECT_EQ(pool_named("openblas"), nullptr);
}

TEST(ThreadPools, AreSetByFunctionsOfThoseInTheTable) {
  for (auto const& setter : pool_setters) EXPECT_NE(pool_named(setter.pool), nullptr) << setter.pool;
}

// A file brings a pool by its own name and folder, never by a part of them.
TEST(ThreadPools, AreKnownByFilesThatBeginLikeTheirs) {
  for (auto const& pool : thread_pools)
    for (auto const& file : pool.files) {
      if (file.is_none()) continue;
      auto const folder = "/x" + std::string(file.folder.empty() ? "/" : file.folder);
      auto const path = folder + std::string(file.name) + ".so.1";
      ASSERT_NE(pool_in({path}), nullptr) << path;
      EXPECT_EQ(pool_in({path})->name, pool.name) << path;
      EXPECT_EQ(pool_in({path, true}) == nullptr, pool.may_be_openmp) << path;
      auto const another = folder + "my" + std::string(file.name);
      EXPECT_EQ(pool_in({another}) == nullptr, !file.name.empty()) << another;
    }
}

TEST(ThreadPools, OfOpenMPAreKnownByItsRuntime) {
  for (auto const* library : {"libgomp.so.1", "libomp.so.5", "libiomp5.so"})
    EXPECT_TRUE(is_openmp_runtime(library)) << library;
  for (auto const* library : {"", "libgo.so", "gomp.so", "libc.so.6"})
    EXPECT_FALSE(is_openmp_runtime(library)) << library;
}

}  // namespace
}  // namespace nigh::settings
