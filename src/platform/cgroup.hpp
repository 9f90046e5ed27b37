// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much time (a quota) and which cpus (a cpuset) the cgroups of a process, versions 1 and 2,
// grant it. Read, never changed.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::platform {

// Identifies the cgroup, with the same text for all processes that see it.
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
  // quota first: each of them binds. Of equal ones the one nearest the root comes first, because it
  // binds most processes.
  std::vector<CpuQuota> quotas;  // CgroupReader::most_quotas at most
  std::vector<int> cpus;         // of the cpuset, ascending; none: the system does not say
  std::string odd;               // the first text that made no sense, and so is ignored

  // Cpus' worth of time that the process may use, no matter what others in its cgroups do.
  std::optional<double> quota() const {
    return quotas.empty() ? std::nullopt : std::optional(quotas.front().cpus);
  }
};

// Reads the mounts once, and each cgroup once, for any number of processes in it: make a new reader
// to look again.
//
// Linux shows the paths of cgroups and the roots of mounts as the reader's cgroup namespace sees
// them. So the mounts are always the reader's own, even for a process with other mounts.
//
// A user may nest its cgroups as deep as it likes, and opening a file takes longer the deeper it
// is. So only the levels nearest the root are read. These are the administrator's; a quota further
// down binds only processes of the user that has made so many levels.
class CgroupReader {
 public:
  static constexpr int most_levels = 32;
  static constexpr std::size_t most_quotas = 8;

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

// How often processes of the group were stopped since the group was made, because they had used up
// its quota.
struct Throttling {
  std::uint64_t periods = 0;    // in which a process of the group wanted to run
  std::uint64_t throttled = 0;  // of these
};
std::optional<Throttling> throttling_of(CpuQuota const& quota);
std::optional<Throttling> throttling_of(CpuGrants const& grants);  // of the smallest quota

}  // namespace nigh::platform
