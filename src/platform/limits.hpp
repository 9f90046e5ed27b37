// SPDX-License-Identifier: Apache-2.0
#pragma once
// What does this host's system allow a program? The facts behind `nigh doctor`. Read, never
// changed.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/cgroup.hpp"

namespace nigh::platform {

// Set by the administrator, the container or the batch system. Empty: the system does not say.
struct limits {
  std::optional<double> cpu_quota;       // cpus' worth of time a cgroup grants; empty: unlimited
  std::optional<Throttling> throttling;  // of that cgroup
  std::string odd_cgroup;  // the part of the cgroups that made no sense; usually nothing
  std::optional<int> perf_event_paranoid;  // kernel.perf_event_paranoid
  std::optional<bool> numa_balancing;      // the kernel moves pages on its own ("AutoNUMA")
  std::string huge_pages;                  // transparent huge pages: "always", "madvise", "never"
  std::string governor;                    // of cpu 0's frequency: "performance", "powersave", ...
  std::optional<double> load;              // threads that wanted to run, mean of the last minute
  std::optional<int> runnable;             // threads that want to run right now, the asker left out
  int nodes_with_memory = 0;               // NUMA nodes
  int nodes_allowed = 0;                   // those of them this process may allocate from
  bool virtual_machine = false;
};

// Below `root`, which is "/" except in tests.
limits read_limits(std::filesystem::path const& root = "/");

// The system's answer when asked to do a thing; empty: it does it, else its reason.
struct probes {
  std::string hardware_counters;                // counting cycles of the calling thread
  std::string bind_memory;                      // mbind
  std::string locate_pages;                     // move_pages, as a question
  std::optional<std::uint64_t> lockable_bytes;  // RLIMIT_MEMLOCK; empty: unlimited
};

probes probe_system();

}  // namespace nigh::platform
