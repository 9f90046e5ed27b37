// SPDX-License-Identifier: Apache-2.0
#include "platform/loaded_objects.hpp"

#include <gnu/libc-version.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace nigh::platform {
namespace {

std::set<std::string> imports() {
  std::set<std::string> names;
  for_each_import(
      [](std::string_view name, void* into) noexcept {
        static_cast<std::set<std::string>*>(into)->emplace(name);
      },
      &names);
  return names;
}

TEST(LoadedObjects, ImportWhatTheyCall) {
  EXPECT_NE(gnu_get_libc_version(), nullptr);
  auto const names = imports();
  // This program calls it, and no sanitizer has one of its own.
  EXPECT_TRUE(names.contains("gnu_get_libc_version"));
  EXPECT_FALSE(names.contains("for_each_import"));
  EXPECT_FALSE(names.contains("GOMP_task"));
}

TEST(LoadedObjects, AreCounted) { EXPECT_GT(times_loaded(), 0U); }

}  // namespace
}  // namespace nigh::platform
