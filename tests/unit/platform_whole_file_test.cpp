// SPDX-License-Identifier: Apache-2.0
#include "platform/whole_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace nigh::platform {
namespace {

TEST(WholeFile, IsReadUpToALimit) {
  auto const name = testing::TempDir() + "nigh_whole_file";
  ASSERT_TRUE(replace_file(name.c_str(), std::string(5000, 'x')));
  std::string text;
  EXPECT_TRUE(read_whole_file(name.c_str(), text, 5000));
  EXPECT_EQ(text.size(), 5000U);
  EXPECT_FALSE(read_whole_file(name.c_str(), text, 4999));
  EXPECT_EQ(errno, EFBIG);
  EXPECT_FALSE(read_whole_file("/dev/zero", text, 1 << 20)) << "it has no end";
}

}  // namespace
}  // namespace nigh::platform
