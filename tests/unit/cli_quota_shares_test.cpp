// SPDX-License-Identifier: Apache-2.0
// Which programs share a quota, in directories that look like the system's.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/quota_shares.hpp"
#include "platform/process_identity.hpp"
#include "temporary_tree.hpp"

namespace nigh::cli {
namespace {

class QuotaShares : public test::TemporaryTree {
 protected:
  void SetUp() override {
    TemporaryTree::SetUp();
    auto const pid = std::to_string(::getpid());
    file("proc/self/mountinfo",
         "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
    file("proc/" + pid + "/cgroup", "0::/job\n");
    file("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    status_.host.cpus = 4;
    status_.programs.push_back({.program = 7,
                                .pid = static_cast<std::uint32_t>(::getpid()),
                                .user = ::geteuid(),
                                .started = platform::start_of(::getpid())});
  }
  std::vector<QuotaShare> shares() const { return quota_shares(status_, root_); }
  coordinator::Status& program() { return status_.programs.front(); }

  coordinator::HostStatus status_;
};

TEST_F(QuotaShares, AreThoseOfThePrograms) {
  ASSERT_EQ(shares().size(), 1U);
  EXPECT_EQ(shares()[0].cpus, 1.5);
  EXPECT_EQ(shares()[0].programs, std::vector<std::uint32_t>{7});
}

// The process with its number is another one, which came later.
TEST_F(QuotaShares, OfAnEndedProgramAreNotThoseOfTheNextOneWithItsNumber) {
  --program().started;
  EXPECT_TRUE(shares().empty());
}

TEST_F(QuotaShares, OfAnotherUsersProcessAreNotBelieved) {
  ++program().user;
  EXPECT_TRUE(shares().empty());
}

}  // namespace
}  // namespace nigh::cli
