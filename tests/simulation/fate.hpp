// SPDX-License-Identifier: Apache-2.0
#pragma once
// The events of the host and its programs: they come, are stopped and killed; quotas, cpusets and
// external load change; the server is killed, told to leave, stopped, and runs out of descriptors.

#include <vector>

#include "simulation/liars.hpp"
#include "simulation/programs.hpp"

namespace simulation {

class Fate {
 public:
  Fate(Host& host, Programs& programs, Liars& liars, bool has_quotas, bool has_liars);

  void begin();

 private:
  void run();
  void strike();
  void stop(Process& process, Time us);
  void lack(bool Kernel::* what);
  void change_quota();
  void change_cpuset();
  void give_cgroup(Process& process);

  Host& host_;
  Programs& programs_;
  Liars& liars_;
  bool has_quotas_;
  bool has_liars_;
  std::uint32_t most_programs_;
  std::uint32_t liars_among_;   // one in so many
  std::vector<double> quotas_;  // of cgroups
  std::vector<int> cgroup_of_;  // by pid
  std::uint64_t life_ = 0;
};

}  // namespace simulation
