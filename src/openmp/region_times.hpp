// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long regions took with how many threads. Any thread adds; memory is bounded, and none is
// asked for while regions run.

#include <cstdint>

#include "openmp/regions.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Makes the table. False: there is no memory.
NIGH_HIDDEN bool begin_region_times() noexcept;

// `code` is where the region was looked up by. Does nothing when the table was not made.
NIGH_HIDDEN void add_region_time(coordinator::RegionId region, void const* code,
                                 std::uint32_t threads, std::uint64_t duration_ns) noexcept;

// As text, into a new file; a region and number of threads a line:
//
//   nigh-openmp-times 1 TEAM LOST PROGRAM
//   ID THREADS RUNS TOTAL_NS P10_NS MEDIAN_NS P90_NS FILE
//
// TEAM as given here, LOST: runs for which the table had no room; names last, for they may hold
// spaces. No file when nothing was added. What cannot be written is left unwritten: it is not our
// program.
NIGH_HIDDEN void write_region_times(char const* file, std::uint32_t team) noexcept;

}  // namespace nigh::openmp
