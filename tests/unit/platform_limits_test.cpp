// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "platform/limits.hpp"
#include "temporary_tree.hpp"

namespace nigh::platform {
namespace {

// A made-up system's /proc and /sys.
class limits_of : public test::TemporaryTree {
 protected:
  limits read() const { return read_limits(root_); }
};

TEST_F(limits_of, a_system_that_says_nothing) {
  auto const found = read();
  EXPECT_FALSE(found.cpu_quota);
  EXPECT_FALSE(found.perf_event_paranoid);
  EXPECT_FALSE(found.numa_balancing);
  EXPECT_FALSE(found.load);
  EXPECT_TRUE(found.huge_pages.empty());
  EXPECT_TRUE(found.governor.empty());
  EXPECT_EQ(found.nodes_with_memory, 0);
  EXPECT_FALSE(found.virtual_machine);
}

TEST_F(limits_of, kernel_settings) {
  file("proc/sys/kernel/perf_event_paranoid", "-1\n");
  file("proc/sys/kernel/numa_balancing", "1\n");
  file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  auto const found = read();
  EXPECT_EQ(found.perf_event_paranoid, -1);
  EXPECT_EQ(found.numa_balancing, true);
  EXPECT_EQ(found.huge_pages, "madvise");
  EXPECT_EQ(found.governor, "powersave");
}

TEST_F(limits_of, numa_balancing_off) {
  file("proc/sys/kernel/numa_balancing", "0\n");
  EXPECT_EQ(read().numa_balancing, false);
}

TEST_F(limits_of, load_leaves_the_asker_out) {
  file("proc/loadavg", "1.52 0.58 0.59 3/1234 5678\n");
  auto const found = read();
  EXPECT_DOUBLE_EQ(found.load.value_or(0), 1.52);
  EXPECT_EQ(found.runnable, 2);
}

TEST_F(limits_of, quota_of_version_2_is_the_tightest_on_the_way_up) {
  file("proc/self/cgroup", "0::/system/job\n");
  file("sys/fs/cgroup/system/job/cpu.max", "400000 100000\n");
  file("sys/fs/cgroup/system/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value_or(0), 1.5);
}

TEST_F(limits_of, no_quota_in_version_2) {
  file("proc/self/cgroup", "0::/\n");
  file("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_FALSE(read().cpu_quota);
}

TEST_F(limits_of, quota_of_version_1) {
  file("proc/self/cgroup", "3:cpuset:/a\n2:cpu,cpuacct:/a\n0::/\n");
  file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  file("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value_or(0), 0.5);
}

TEST_F(limits_of, no_quota_in_version_1) {
  file("proc/self/cgroup", "2:cpu:/\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(read().cpu_quota);
}

TEST_F(limits_of, container_sees_its_own_group_at_the_mount) {
  file("proc/self/cgroup", "0::/docker/0123\n");
  file("sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(read().cpu_quota.value_or(0), 2.5);
}

TEST_F(limits_of, allowed_nodes_are_counted_among_those_with_memory) {
  file("sys/devices/system/node/has_memory", "0-2,8\n");
  file("proc/self/status", "Name:\tx\nMems_allowed:\t1\nMems_allowed_list:\t1,3-8\n");
  auto const found = read();
  EXPECT_EQ(found.nodes_with_memory, 4);
  EXPECT_EQ(found.nodes_allowed, 2);
}

TEST_F(limits_of, virtual_machine) {
  file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse hypervisor\n");
  EXPECT_TRUE(read().virtual_machine);
  file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse hypervisors\n");
  EXPECT_FALSE(read().virtual_machine);
}

TEST_F(limits_of, garbage_is_no_fact) {
  file("proc/sys/kernel/perf_event_paranoid", "often\n");
  file("sys/kernel/mm/transparent_hugepage/enabled", "always ]madvise[ never\n");
  file("proc/self/cgroup", "nothing\n0:\n");
  file("proc/loadavg", "busy\n");
  auto const found = read();
  EXPECT_FALSE(found.perf_event_paranoid);
  EXPECT_TRUE(found.huge_pages.empty());
  EXPECT_FALSE(found.cpu_quota);
  EXPECT_FALSE(found.load);
}

TEST(probes, answer_without_harm) {
  auto const first = probe_system();
  auto const second = probe_system();
  EXPECT_EQ(first.bind_memory, second.bind_memory);
  EXPECT_EQ(first.locate_pages, second.locate_pages);
}

}  // namespace
}  // namespace nigh::platform
