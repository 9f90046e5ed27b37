// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copy bandwidth (McCalpin's STREAM): the limit of codes that read one array and write another.

#include <cstddef>
#include <nigh/runtime.hpp>
#include <vector>

#include "bench/pinned_threads.hpp"

namespace bench {

enum class Stores { plain, streaming };

bool streaming_copy_available() noexcept;  // does this processor have non-temporal stores?

// Seconds to copy `count` doubles, one contiguous part for each thread. Both pointers
// are aligned to cache lines.
double seconds_to_copy(PinnedThreads& pinned, double const* from, double* to, std::size_t count,
                       Stores stores);

// The unit of all communication between cores.

// Nanoseconds for a cache line to go from one of two cpus to the other and back; each sample is the
// mean of 100 round trips. Empty when there is only one cpu.
std::vector<double> time_cache_line(std::vector<int> const& cpus, int samples);

// The time until a task has been stolen.

// Nanoseconds from a fork on one of two workers until it sees that the other one has begun the
// task; 1e9 when nobody has come within a second.
std::vector<double> time_steals(nigh::runtime& runtime, int samples);

// How much cpu a program burns while it has nothing to do.

// Cpus used by this process (all threads, user and system) on average over so many seconds of
// sleep, beginning `settle_ms` from now.
double cpus_used_while_asleep(double seconds, int settle_ms);

}  // namespace bench
