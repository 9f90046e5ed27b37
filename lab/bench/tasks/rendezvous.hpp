// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a fork-join takes whose two bodies must run at the same time: each waits for the other.
// An empty one would tell nothing, for the caller may run both bodies itself.

#include <functional>
#include <string>
#include <vector>

#include "bench/results.hpp"

namespace bench {

// Calls the body twice at the same time, in two threads, and returns when both have returned.
using ForkTwo = std::function<void(std::function<void()> const& body)>;

// Nanoseconds of each of `count` rounds, with so long a pause before each: the caller is busy until
// 2 ms, and sleeps for longer ones. std::runtime_error when the bodies did not meet within a
// second.
std::vector<double> time_rendezvous(ForkTwo const& fork, double pause_us, int count);

// By an OpenMP region of two threads on these cpus, which calls nothing else.
std::vector<double> time_openmp_rendezvous(std::vector<int> const& cpus, double pause_us,
                                           int count);
// The same by a parallel loop of two iterations.
std::vector<double> time_openmp_loop_rendezvous(std::vector<int> const& cpus, double pause_us,
                                                int count);
std::vector<double> time_tbb_loop_rendezvous(std::vector<int> const& cpus, double pause_us,
                                             int count);
std::vector<double> time_tbb_rendezvous(std::vector<int> const& cpus, double pause_us, int count);

// By one thread that sleeps until the caller wakes it: what a wake-up costs here, whoever does it.
std::vector<double> time_sleeper_rendezvous(std::vector<int> const& cpus, double pause_us,
                                            int count);

// Rendezvous by several runtimes side by side, after pauses of several lengths.

inline constexpr double rendezvous_pauses_us[] = {0, 20, 900, 1900, 20'000};

struct Way {
  std::string name, absent;  // why; empty: it is there
  std::function<std::vector<double>(double pause_us, int count)> time;
};

// One result for each way and pause, in this order; rounds are interleaved.
std::vector<Result> time_ways(std::string const& bench, std::vector<Way> const& list, bool quick);

// A row for each way, us: median (min).
std::string rendezvous_table(std::vector<Result> const& results);

}  // namespace bench
