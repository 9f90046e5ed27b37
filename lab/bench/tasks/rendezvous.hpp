// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a fork-join takes whose two bodies must run at the same time: each waits for the other.
// An empty one would tell nothing, for the caller may run both bodies itself.

#include <functional>
#include <vector>

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

}  // namespace bench
