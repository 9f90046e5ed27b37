// SPDX-License-Identifier: Apache-2.0
#pragma once
// NPB MG on a modelled machine, as Hua and Atik ran it: threads compact or scattered, pages by
// first touch or interleaved, loops over planes scheduled as three frameworks do.
//
//   OpenMP     static blocks, or dynamic with chunks of a plane
//   Cilk       whoever has nothing takes half of what another has, drawn at random
//   FastFlow   static blocks; its dynamic schedule gives each thread a block, too, from which
//              others take when theirs is done, as nigh's adaptive does
//
// They differ by schedules alone: their program allocates each row by malloc in its first thread,
// which touches nearly all pages (measured), whatever loops zero them later. By first touch all
// would lie where that thread is; what they report of static loops, that the other socket has a
// good part of the data, takes a kernel that moves pages, which is not modelled. That the first
// thread has touched the finest u, and loops the rest, stands for what such a kernel leaves.

#include <array>
#include <cstdint>
#include <nigh/topology.hpp>
#include <string_view>
#include <vector>

#include "sim/machine.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

enum class Framework : std::uint8_t { openmp, cilk, fastflow };
inline constexpr std::array<std::string_view, 3> framework_names{"openmp", "cilk", "fastflow"};

enum class MgPages : std::uint8_t {
  first_touch,
  interleaved,  // over domains with cpus, as nigh does
  everywhere    // over all that have memory, as numactl --interleave=all does
};

// The fields that the program's first thread has touched before any loop runs.
enum class FirstThread : std::uint8_t { nothing, u, all };  // u: the finest one
inline constexpr std::array<std::string_view, 3> first_thread_names{"nothing", "u", "all"};

struct MgCase {
  Framework framework = Framework::openmp;
  bool dynamic = false;  // of Cilk: always
  cpu_order order = cpu_order::compact;
  MgPages pages = MgPages::first_touch;
  int threads = 1;
  int finest = 9;       // 2^9 points a side: class C
  int iterations = 20;  // of which two are simulated
  FirstThread first_thread = FirstThread::u;
  bool caches = true;  // without, each plane comes from memory each time
  // How many times longer a page takes to be touched first in a domain where the program did not
  // begin. Fitted: dynamic, on 24 threads, is to leave socket 1 less than a fifth of the traffic
  // (the text: its memory's utilization is very low). 1: all touch alike.
  double far_touch = 4;
  bool operator==(MgCase const&) const = default;
};

struct MgOutcome {
  double iteration_s = 0;
  double gb = 0;                 // moved by an iteration
  std::vector<double> load;      // [domain]: its part of that
  std::vector<double> resident;  // [domain]: its part of all pages
  double missed = 0;             // of the planes asked for, what came from memory
};

MgOutcome run_mg(Machine const& machine, MgCase const& what, std::uint64_t seed,
                 LostStep lost = {});

}  // namespace nigh::sim
