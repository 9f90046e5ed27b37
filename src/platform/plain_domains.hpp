// SPDX-License-Identifier: Apache-2.0
#pragma once
// The NUMA domains of this machine, by the kernel's numbers, for preloaded libraries: without hwloc
// and the C++ runtime.

#include <cstdint>

namespace nigh::platform {

inline constexpr std::uint32_t most_domains = 64;

// One more than the highest number of a domain with cpus; 1 where it does not matter where data
// lies.
std::uint32_t domains() noexcept;

// Of the page at this address; -1: it has not been touched yet, or the kernel does not say. Asking
// touches no page. Once known, it is taken to stay.
int domain_of(void const* address) noexcept;

}  // namespace nigh::platform
