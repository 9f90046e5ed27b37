// SPDX-License-Identifier: Apache-2.0
#pragma once
// How near cpus are to each other, by the kernel's files, for preloaded libraries: without hwloc
// and the C++ runtime.

#include <cstdint>
#include <span>

#include "platform/plain_domains.hpp"

namespace nigh::platform {

inline constexpr int most_cpus = 4096;

// The things that a cpu shares with others, each named by the lowest cpu that shares it. A cache
// that the machine does not have has the name of what lies below it.
struct CpuPlace {
  std::uint16_t core = 0, l2 = 0, l3 = 0, package = 0;
  std::uint16_t domain = 0;  // the kernel's number

  bool operator==(CpuPlace const&) const = default;
};

// The cpu that the calling thread runs on; -1: nobody knows.
int cpu_of_thread() noexcept;

// Of a cpu below most_cpus. Its files are read once.
CpuPlace place_of(int cpu) noexcept;
// The kernel's distance of two domains, 10 of one to itself. Read once.
std::uint32_t distance_of_domains(std::uint32_t from, std::uint32_t to) noexcept;

// The same of the machine whose files lie in `root`, as /sys/devices/system.
CpuPlace read_place(char const* root, int cpu) noexcept;
// Where the kernel says nothing, domains are 20 apart.
void read_distances(char const* root, std::uint32_t from,
                    std::span<std::uint8_t, most_domains> to) noexcept;

}  // namespace nigh::platform
