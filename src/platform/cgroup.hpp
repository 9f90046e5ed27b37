// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the cgroups of a process, versions 1 and 2, grant it of the cpus: time (a quota) and numbers
// (a cpuset). Read, never changed.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::platform {

// Which cgroup, the same for all processes that see it.
struct GroupId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(GroupId const&) const = default;
};

// All processes of the group together may use so many cpus' worth of time.
struct CpuQuota {
  double cpus = 0;
  GroupId group;
  std::string directory;
};

struct CpuGrants {
  // One for each cgroup with a quota, from the process's own up to the mounted root, the smallest
  // first: each of them binds.
  std::vector<CpuQuota> quotas;
  std::vector<int> cpus;  // of the cpuset, ascending; none: the system does not say
  std::string odd;        // the first thing that no sense could be made of, and counts for nothing

  // Cpus' worth of time that the process may use, whoever else is in its cgroups.
  std::optional<double> quota() const {
    return quotas.empty() ? std::nullopt : std::optional(quotas.front().cpus);
  }
};

// Reads the mounts once, and each cgroup once, however many processes are in it: make a new one to
// look again.
//
// Linux shows both the paths of cgroups and the roots of mounts as the reader's cgroup namespace
// sees them, so the mounts are always the reader's own, also where the process has others.
class CgroupReader {
 public:
  explicit CgroupReader(std::filesystem::path root = "/");  // another one in tests

  CpuGrants const& grants_to(int pid);  // stays as long as the reader
  CpuGrants const& grants_to_this_process();

 private:
  struct Mount {
    std::string root;         // the cgroup that is mounted
    std::string point;        // where
    std::string controllers;  // ",cpu,cpuacct,"; of version 2 empty
  };
  CpuGrants const& grants_to(std::string const& process);
  CpuGrants read(std::string_view groups) const;
  void read_group(Mount const& mount, std::string_view controllers, std::string const& group,
                  CpuGrants& into) const;

  std::filesystem::path root_;
  std::vector<Mount> mounts_;
  std::map<std::string, CpuGrants, std::less<>> known_;  // by the text of /proc/PID/cgroup
};

// Of the calling process. Empty: it has no quota.
std::optional<double> own_cpu_quota();

// How often processes of the group had to stop since the group was made, as they had used up its
// quota.
struct Throttling {
  std::uint64_t periods = 0;    // in which a process of the group wanted to run
  std::uint64_t throttled = 0;  // of these
};
std::optional<Throttling> throttling_of(CpuQuota const& quota);

}  // namespace nigh::platform
