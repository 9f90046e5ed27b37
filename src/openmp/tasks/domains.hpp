// SPDX-License-Identifier: Apache-2.0
#pragma once
// The NUMA domains of this machine, by the kernel's numbers, as the tasks' locality queues need
// them.

#include <cstdint>

#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

inline constexpr std::uint32_t most_domains = 64;

// One more than the highest number of a domain with cpus; 1 where it does not matter where data
// lies.
NIGH_HIDDEN std::uint32_t domains() noexcept;

// Of the cpu that the calling thread runs on.
NIGH_HIDDEN std::uint32_t domain_of_thread() noexcept;

// Of the page at this address; -1: it has not been touched yet, or the kernel does not say. Asking
// touches no page. Once known, it is taken to stay.
NIGH_HIDDEN int domain_of(void const* address) noexcept;

}  // namespace nigh::openmp::tasks
