// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of a machine's file, measured here.

#include <cstddef>
#include <nigh/topology.hpp>
#include <vector>

namespace bench {

struct Effort {
  int repetitions = 9;
  std::size_t array_bytes = std::size_t{256} << 20;  // of each of two, for a domain
};

using Samples = std::vector<double>;

// Copies between two arrays in one domain's memory. Bytes that are moved to and from memory: with
// plain stores, lines are fetched before they are overwritten, and count.
struct Bandwidths {
  Samples thread;      // of one thread, near memory
  Samples controller;  // of all of a domain's, near memory
  Samples thread_far;  // of one thread, another domain's memory; empty: there is no other domain
  Samples link;        // of all of a domain's, there
  bool streaming = false;
};
Bandwidths measure_bandwidths(nigh::topology const& machine, Effort const& effort);

// A message from one process to another that waits for it, ns.
Samples measure_messages(int repetitions);

// A fork-join on all cpus, whose bodies wait for each other, for each thread, ns. Empty: there is
// one cpu.
Samples measure_meetings(nigh::topology const& machine, int repetitions);

// Making a task and taking it back, by the only worker there is, beyond calling what it does, ns.
Samples measure_spawns(nigh::topology const& machine, int repetitions);

// How long a thread keeps its cpu while another one wants it, ns. Empty: none had to give it up.
Samples measure_slices(int cpu, int repetitions);

}  // namespace bench
