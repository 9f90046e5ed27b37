// SPDX-License-Identifier: Apache-2.0
#include "platform/loaded_objects.hpp"

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
  auto const names = imports();
  EXPECT_TRUE(names.contains("dl_iterate_phdr"));  // this program calls it
  EXPECT_TRUE(names.contains("__cxa_throw"));      // the C++ library has it, and others call it
  EXPECT_FALSE(names.contains("for_each_import"));
  EXPECT_FALSE(names.contains("GOMP_task"));
}

TEST(LoadedObjects, AreCounted) { EXPECT_GT(times_loaded(), 0U); }

}  // namespace
}  // namespace nigh::platform
