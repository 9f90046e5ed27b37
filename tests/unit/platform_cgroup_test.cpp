// SPDX-License-Identifier: Apache-2.0
// Quotas and cpusets of cgroups, in directories that look like theirs.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/cgroup.hpp"
#include "temporary_tree.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;
using Cpus = std::vector<int>;

class cgroup_reader : public test::TemporaryTree {
 protected:
  void version_1() const {
    file("proc/self/mountinfo",
         "23 1 8:1 / / rw - ext4 /dev/vda rw\n"
         "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
         "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
         "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
         "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  void version_2(std::string const& root = "/") const {
    file("proc/self/mountinfo",
         "31 23 0:28 " + root + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void quota_1(std::string const& group, std::string const& quota,
               std::string const& period) const {
    file("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_quota_us", quota);
    file("sys/fs/cgroup/cpu,cpuacct" + group + "/cpu.cfs_period_us", period);
  }
  void quota_2(std::string const& group, std::string const& text) const {
    file("sys/fs/cgroup" + group + "/cpu.max", text);
  }
  CpuGrants of(int pid) const { return CgroupReader(root_).grants_to(pid); }
};

TEST_F(cgroup_reader, version_2_finds_every_quota_on_the_way_up) {
  version_2();
  file("proc/7/cgroup", "0::/system/job/step\n");
  quota_2("/system/job/step", "max 100000\n");
  quota_2("/system/job", "400000 100000\n");
  quota_2("/system", "75000 50000\n");
  auto const grants = of(7);
  ASSERT_EQ(grants.quotas.size(), 2u);
  EXPECT_DOUBLE_EQ(grants.quotas[0].cpus, 1.5);
  EXPECT_DOUBLE_EQ(grants.quotas[1].cpus, 4);
  EXPECT_EQ(grants.quotas[0].directory, (root_ / "sys/fs/cgroup/system").string());
  EXPECT_NE(grants.quotas[0].group, grants.quotas[1].group);
  EXPECT_TRUE(grants.odd.empty()) << grants.odd;
}

TEST_F(cgroup_reader, version_1_has_two_files_and_the_controller_where_it_is_mounted) {
  version_1();
  file("proc/7/cgroup", "4:cpuset:/a\n3:memory:/z\n1:cpu,cpuacct:/docker/x\n0::/docker/x\n");
  quota_1("", "-1\n", "100000\n");
  quota_1("/docker", "300000\n", "100000\n");
  quota_1("/docker/x", "50000\n", "20000\n");
  auto const grants = of(7);
  ASSERT_EQ(grants.quotas.size(), 2u);
  EXPECT_DOUBLE_EQ(*grants.quota(), 2.5);
  EXPECT_DOUBLE_EQ(grants.quotas[1].cpus, 3);
  EXPECT_TRUE(grants.odd.empty()) << grants.odd;
}

TEST_F(cgroup_reader, programs_of_one_cgroup_have_one_quota) {
  version_2();
  file("proc/7/cgroup", "0::/box/a\n");
  file("proc/8/cgroup", "0::/box/b\n");
  quota_2("/box", "200000 100000\n");
  quota_2("/box/b", "100000 100000\n");
  CgroupReader reader(root_);
  auto const& a = reader.grants_to(7);
  auto const& b = reader.grants_to(8);
  ASSERT_EQ(a.quotas.size(), 1u);
  ASSERT_EQ(b.quotas.size(), 2u);
  EXPECT_EQ(a.quotas[0].group, b.quotas[1].group);
}

// The deeper the levels, the longer it takes to open a file there.
TEST_F(cgroup_reader, of_a_thousand_levels_those_nearest_the_root_are_read) {
  version_2();
  std::string group;
  for (int level = 1; level <= 1000; ++level) {
    group += "/a";
    if (level % 10 == 0 || level == 32 || level == 33)
      quota_2(group, std::to_string(2'000'000 - level * 1000) + " 100000\n");
  }
  file("sys/fs/cgroup/a/cpuset.cpus.effective", "0-3\n");
  file("sys/fs/cgroup" + group + "/cpuset.cpus.effective", "1\n");
  file("proc/7/cgroup", "0::" + group + "\n");
  auto const grants = of(7);
  ASSERT_EQ(grants.quotas.size(), 4u) << "of levels 32, 30, 20 and 10";
  EXPECT_DOUBLE_EQ(grants.quotas[0].cpus, 19.68);
  EXPECT_DOUBLE_EQ(grants.quotas[3].cpus, 19.9);
  EXPECT_EQ(grants.cpus, (Cpus{0, 1, 2, 3}));
}

TEST_F(cgroup_reader, a_mount_that_shows_a_part_has_as_many_levels) {
  version_2("/docker/x");
  std::string below;
  for (int level = 1; level <= 33; ++level) below += "/a";
  quota_2(below, "100000 100000\n");
  quota_2(below.substr(0, below.size() - 2), "200000 100000\n");
  file("proc/7/cgroup", "0::/docker/x" + below + "\n");
  EXPECT_DOUBLE_EQ(of(7).quota().value_or(0), 2);
}

TEST_F(cgroup_reader, the_tightest_quotas_are_kept_and_of_equal_ones_those_nearest_the_root) {
  version_2();
  std::string group;
  for (int level = 1; level <= 20; ++level) {
    group += "/a";
    quota_2(group, level <= 4    ? "500000 100000\n"
                   : level == 20 ? "50000 100000\n"
                                 : "200000 100000\n");
  }
  file("proc/7/cgroup", "0::" + group + "\n");
  auto const quotas = of(7).quotas;
  ASSERT_EQ(quotas.size(), CgroupReader::most_quotas);
  EXPECT_DOUBLE_EQ(quotas[0].cpus, 0.5);
  EXPECT_DOUBLE_EQ(quotas.back().cpus, 2);
  EXPECT_EQ(quotas[1].directory, (root_ / "sys/fs/cgroup/a/a/a/a/a").string());
}

TEST_F(cgroup_reader, a_quota_below_one_cpu) {
  version_2();
  file("proc/7/cgroup", "0::/small\n");
  quota_2("/small", "1000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 0.01);
}

// In a namespace, or a container with one, the group and the mount's root are both "/".
TEST_F(cgroup_reader, a_cgroup_namespace) {
  version_2();
  file("proc/7/cgroup", "0::/\n");
  quota_2("", "250000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 2.5);
}

// A container without a namespace, with its own group mounted.
TEST_F(cgroup_reader, a_mount_that_shows_a_part) {
  version_2("/docker/x");
  file("proc/7/cgroup", "0::/docker/x/job\n");
  quota_2("", "400000 100000\n");
  quota_2("/job", "150000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 1.5);
  file("proc/8/cgroup", "0::/docker/xy\n");  // a sibling whose name only begins alike
  auto const sibling = of(8);
  EXPECT_FALSE(sibling.quota());
  EXPECT_FALSE(sibling.odd.empty());
}

TEST_F(cgroup_reader, a_group_beside_ones_namespace_cannot_be_seen) {
  version_2();
  file("proc/7/cgroup", "0::/../other\n");
  quota_2("", "250000 100000\n");  // which is ours, not its own
  auto const grants = of(7);
  EXPECT_FALSE(grants.quota());
  EXPECT_NE(grants.odd.find("/../other"), std::string::npos);
}

TEST_F(cgroup_reader, a_group_whose_name_begins_with_dots_is_a_group_like_others) {
  version_2();
  file("proc/7/cgroup", "0::/batch/..x\n");
  quota_2("/batch/..x", "50000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 0.5);
}

TEST_F(cgroup_reader, a_mount_from_above_the_namespace_binds) {
  version_2("/..");
  file("proc/7/cgroup", "0::/job\n");
  quota_2("", "250000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 2.5);
}

// The namespace's own group is "/", and its directory below the mount has a name that is not known.
TEST_F(cgroup_reader, groups_between_a_mount_and_the_namespace_below_it_are_told) {
  version_2("/../..");
  file("proc/7/cgroup", "0::/\n");
  quota_2("/pod/container", "100000 100000\n");
  auto const grants = of(7);
  EXPECT_FALSE(grants.quota());
  EXPECT_NE(grants.odd.find("are not known here"), std::string::npos) << grants.odd;
}

TEST_F(cgroup_reader, a_group_that_is_gone_leaves_those_above) {
  version_2();
  file("proc/7/cgroup", "0::/box/gone (deleted)\n");
  quota_2("/box", "250000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 2.5);
}

TEST_F(cgroup_reader, names_with_spaces) {
  file("proc/self/mountinfo", "31 23 0:28 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n");
  file("proc/7/cgroup", "0::/a b\n");
  file("sys/my groups/a b/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(*of(7).quota(), 2.5);
}

TEST_F(cgroup_reader, odd_quotas_count_for_nothing_and_are_told) {
  version_2();
  file("proc/7/cgroup", "0::/odd\n");
  for (char const* text : {"often\n", "\n", "", "-5 100000\n", "0 100000\n", "100000 0\n",
                           "100000\n", "1e5 100000\n", "99999999999999999999 100000\n"}) {
    quota_2("/odd", text);
    auto const grants = of(7);
    EXPECT_FALSE(grants.quota()) << text;
    EXPECT_NE(grants.odd.find("/odd/cpu.max says"), std::string::npos) << text;
  }
  quota_2("/odd", "9223372036854775807 1000\n");
  EXPECT_GT(*of(7).quota(), 1e15);
}

TEST_F(cgroup_reader, odd_quotas_of_version_1) {
  version_1();
  file("proc/7/cgroup", "1:cpu,cpuacct:/odd\n");
  for (char const* quota : {"0\n", "-2\n", "x\n", "\n"}) {
    quota_1("/odd", quota, "100000\n");
    EXPECT_FALSE(of(7).quota()) << quota;
    EXPECT_FALSE(of(7).odd.empty()) << quota;
  }
  quota_1("/odd", "50000\n", "0\n");
  EXPECT_FALSE(of(7).quota());
  EXPECT_FALSE(of(7).odd.empty());
}

TEST_F(cgroup_reader, a_file_that_cannot_be_read_is_told) {
  version_2();
  file("proc/7/cgroup", "0::/job\n");
  fs::create_directories(root_ / "sys/fs/cgroup/job/cpu.max");
  auto const grants = of(7);
  EXPECT_FALSE(grants.quota());
  EXPECT_NE(grants.odd.find("cpu.max cannot be read"), std::string::npos) << grants.odd;
}

TEST_F(cgroup_reader, a_process_that_is_gone_has_no_quota) {
  version_2();
  auto const grants = of(7);
  EXPECT_FALSE(grants.quota());
  EXPECT_TRUE(grants.cpus.empty());
  EXPECT_NE(grants.odd.find("proc/7/cgroup cannot be read"), std::string::npos);
}

TEST_F(cgroup_reader, odd_lines_are_passed_over) {
  file("proc/self/mountinfo",
       "\n31\n31 23 - cgroup2\n - cgroup2 x\n31 23 0:28 / /m rw - cgroup2\n");
  file("proc/7/cgroup", "nothing\n0:\n\n0::\n1:cpu:relative\n0::/ok\n");
  file("m/ok/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(of(7).quota().value_or(0), 1.5);
}

TEST_F(cgroup_reader, the_cpuset_is_that_of_the_nearest_group_that_has_one) {
  version_2();
  file("proc/7/cgroup", "0::/a/b\n");
  file("sys/fs/cgroup/a/cpuset.cpus.effective", "0-2,5\n");
  EXPECT_EQ(of(7).cpus, (Cpus{0, 1, 2, 5}));
  file("sys/fs/cgroup/a/b/cpuset.cpus.effective", "2\n");
  EXPECT_EQ(of(7).cpus, (Cpus{2}));
}

TEST_F(cgroup_reader, the_cpuset_of_version_1_is_a_hierarchy_of_its_own) {
  version_1();
  file("proc/7/cgroup", "4:cpuset:/a\n1:cpu,cpuacct:/docker/x\n");
  file("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "1,3\n");
  EXPECT_EQ(of(7).cpus, (Cpus{1, 3}));
}

TEST_F(cgroup_reader, an_emptied_or_odd_cpuset_says_nothing) {
  version_2();
  file("proc/7/cgroup", "0::/a\n");
  for (char const* text : {"\n", "", "all\n", "-3\n"}) {
    file("sys/fs/cgroup/a/cpuset.cpus.effective", text);
    EXPECT_TRUE(of(7).cpus.empty()) << text;
  }
  file("sys/fs/cgroup/a/cpuset.cpus.effective", "0-99999999999,4,3-1\n");
  EXPECT_EQ(of(7).cpus, (Cpus{4}));
}

TEST_F(cgroup_reader, throttling) {
  CpuQuota quota;
  quota.directory = (root_ / "group").string();
  EXPECT_FALSE(throttling_of(quota));
  file("group/cpu.stat", "usage_usec 5\n");
  EXPECT_FALSE(throttling_of(quota));
  file("group/cpu.stat", "nr_periods 27\nnr_throttled 24\nthrottled_usec 1\n");
  auto const found = throttling_of(quota).value();
  EXPECT_EQ(found.periods, 27u);
  EXPECT_EQ(found.throttled, 24u);
}

TEST_F(cgroup_reader, throttling_in_version_2_is_that_of_the_smallest_quota) {
  version_2();
  file("proc/self/cgroup", "0::/a/b/c\n");
  auto const throttling = [&] {
    return throttling_of(CgroupReader(root_).grants_to_this_process());
  };
  quota_2("/a/b/c", "max 100000\n");
  file("sys/fs/cgroup/a/b/c/cpu.stat", "usage_usec 7\nnr_periods 1\nnr_throttled 1\n");
  EXPECT_FALSE(throttling());
  quota_2("/a/b", "200000 100000\n");
  file("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 7\nnr_periods 8\nnr_throttled 0\n");
  EXPECT_EQ(throttling().value().periods, 8u);
  quota_2("/a", "50000 100000\n");
  file("sys/fs/cgroup/a/cpu.stat", "usage_usec 7\nnr_periods 20\nnr_throttled 3\n");
  EXPECT_EQ(throttling().value().periods, 20u);
  EXPECT_EQ(throttling().value().throttled, 3u);
}

TEST_F(cgroup_reader, throttling_in_version_1_is_that_of_the_cpu_controller) {
  version_1();
  file("proc/self/cgroup", "9:cpuset:/x\n4:cpu,cpuacct:/job\n0::/\n");
  auto const throttling = [&] {
    return throttling_of(CgroupReader(root_).grants_to_this_process());
  };
  quota_1("/job", "-1\n", "100000\n");
  file("sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
       "nr_periods 5\nnr_throttled 4\nthrottled_time 1\n");
  EXPECT_FALSE(throttling());
  quota_1("/job", "100000\n", "100000\n");
  EXPECT_EQ(throttling().value().throttled, 4u);
}

TEST_F(cgroup_reader, throttling_in_a_container_is_that_of_its_mount) {
  version_2("/docker/1234");
  quota_2("", "50000 100000\n");
  file("sys/fs/cgroup/cpu.stat", "nr_periods 20\nnr_throttled 3\n");
  file("proc/self/cgroup", "0::/docker/1234\n");
  auto const found = throttling_of(CgroupReader(root_).grants_to_this_process());
  EXPECT_EQ(found.value().periods, 20u);
  file("proc/self/cgroup", "0::/../../elsewhere\n");  // which the mount does not show
  EXPECT_FALSE(throttling_of(CgroupReader(root_).grants_to_this_process()));
}

TEST_F(cgroup_reader, no_throttling_without_cgroups) {
  EXPECT_FALSE(throttling_of(CgroupReader(root_).grants_to_this_process()));
}

TEST(own_cpu_quota, answers) {
  auto const quota = own_cpu_quota();
  EXPECT_TRUE(!quota || *quota > 0);
}

}  // namespace
}  // namespace nigh::platform
