// SPDX-License-Identifier: Apache-2.0
#pragma once
// A study: every region with as many threads as the environment says, on the same cpus, and timed.
// The coordinator is not asked.
//
//   NIGH_OPENMP_TEAM=K      threads
//   NIGH_OPENMP_CPUS=LIST   0,2,1: thread i on the i-th of them; without it, by their numbers
//   NIGH_OPENMP_TIMES=FILE  what the regions took is in FILE.PID at the end

#include <bit>
#include <cstddef>
#include <cstdint>

#include "coordinator/protocol/cpus.hpp"
#include "coordinator/protocol/region_id.hpp"
#include "openmp/connection.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Reads the environment. Returns what is wrong with it, or null.
NIGH_HIDDEN char const* begin_study(coordinator::CpuSet const& allowed,
                                    std::uint32_t allowed_cpus) noexcept;

// In place of a lease; null when there is no study.
extern NIGH_HIDDEN constinit GrantedTeam studied_team;  // size 0: there is none
inline GrantedTeam const* study_team() noexcept {
  return studied_team.size > 0 ? &studied_team : nullptr;
}

// Writes the times. For the process that began it, not for its children.
NIGH_HIDDEN void end_study() noexcept;

// ---- how long regions took with how many threads. Any thread adds; memory is bounded, and none is
// requested while regions run.

// Makes the table. False: there is no memory.
NIGH_HIDDEN bool begin_region_times() noexcept;

// In place of the threads: the program asked for one, by num_threads(1) or if(false). The clause
// may follow omp_get_max_threads(), which is one in a study of teams of one.
inline constexpr std::uint32_t asked_for_one = UINT32_MAX;

// `code`: the address by which the region was looked up. Does nothing when the table was not made.
NIGH_HIDDEN void add_region_time(coordinator::RegionId region, void const* code,
                                 std::uint32_t threads, std::uint64_t duration_ns) noexcept;

// As text, into a new file; one region and number of threads a line:
//
//   nigh-openmp-times 1 TEAM LOST PROGRAM
//   ID THREADS RUNS TOTAL_NS P10_NS MEDIAN_NS P90_NS FILE
//
// THREADS is 0 where one was asked for. TEAM as given here, LOST: runs for which the table had no
// room; names come last, for they may hold spaces. No file when nothing was added. Entries that
// cannot be written are left out: it is not our program.
NIGH_HIDDEN void write_region_times(char const* file, std::uint32_t team) noexcept;

// ---- durations, counted in bins: 32 to each doubling, so that a value read back is within 2% of
// the one added. The first 64 nanoseconds have a bin each.

inline constexpr unsigned bin_bits = 5;  // of the leading bits after the first
inline constexpr std::size_t bins_each = std::size_t{1} << bin_bits;
// 2^44 ns: almost five hours; longer runs count as that
inline constexpr unsigned longest_bits = 44;
inline constexpr std::size_t duration_bins = (longest_bits - bin_bits + 1) * bins_each;

constexpr std::size_t bin_of(std::uint64_t ns) noexcept {
  if (ns < 2 * bins_each) return static_cast<std::size_t>(ns);
  auto const width = static_cast<unsigned>(std::bit_width(ns));
  if (width > longest_bits) return duration_bins - 1;
  auto const shift = width - bin_bits - 1;
  return shift * bins_each + static_cast<std::size_t>(ns >> shift);
}

// The middle of a bin.
constexpr std::uint64_t duration_of(std::size_t bin) noexcept {
  if (bin < 2 * bins_each) return bin;
  auto const shift = static_cast<unsigned>(bin / bins_each - 1);
  return ((bin % bins_each + bins_each) << shift) + ((std::uint64_t{1} << shift) - 1) / 2;
}

static_assert(bin_of(0) == 0 && bin_of(63) == 63 && bin_of(64) == 64 && bin_of(65) == 64);
static_assert(bin_of(UINT64_MAX) == duration_bins - 1);
static_assert(bin_of((std::uint64_t{1} << longest_bits) - 1) == duration_bins - 1);
static_assert(bin_of(duration_of(700)) == 700 && duration_of(bin_of(1'000'000)) - 990'000 < 20'000);

// The duration that this part (0 to 1000) of all runs does not exceed; 0: there are no runs.
template <class Counts>
constexpr std::uint64_t quantile_of(Counts const& counts, std::uint64_t runs,
                                    std::uint64_t thousandths) noexcept {
  std::uint64_t const before = (runs * thousandths + 999) / 1000;
  std::uint64_t seen = 0;
  for (std::size_t bin = 0; bin < duration_bins; ++bin) {
    seen += counts[bin];
    if (seen > 0 && seen >= before) return duration_of(bin);
  }
  return 0;
}

}  // namespace nigh::openmp
