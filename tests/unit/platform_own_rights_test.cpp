// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/own_rights.hpp"

namespace nigh::platform {
namespace {

class OwnRights : public ::testing::Test {
 protected:
  void SetUp() override {
    descriptor = ::mkstemp(name);
    ASSERT_GE(descriptor, 0);
  }
  ~OwnRights() override {
    ::close(descriptor);
    ::unlink(name);
  }
  bool drops_with(mode_t mode) {
    EXPECT_EQ(::fchmod(descriptor, mode), 0);
    return drops_preloads(name);
  }

  char name[32] = "/tmp/nigh-rights-XXXXXX";
  int descriptor = -1;
};

TEST_F(OwnRights, ProgramsWithoutAnyHearOfPreloads) {
  EXPECT_FALSE(drops_with(0755));
  EXPECT_FALSE(drops_preloads("/no/such/file"));
}

TEST_F(OwnRights, ProgramsThatBecomeWhoWeAreHearOfThem) {
  EXPECT_FALSE(drops_with(S_ISUID | 0755));
}

TEST_F(OwnRights, ProgramsThatBecomeOthersDoNot) {
  if (::fchown(descriptor, ::getuid() + 1, ::getgid() + 1) != 0) GTEST_SKIP() << "needs root";
  EXPECT_FALSE(drops_with(0755));
  EXPECT_TRUE(drops_with(S_ISUID | 0755));
  EXPECT_TRUE(drops_with(S_ISGID | 0755));
}

}  // namespace
}  // namespace nigh::platform
