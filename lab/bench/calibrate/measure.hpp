// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of a machine's file, measured here.

#include <cstddef>
#include <nigh/topology.hpp>
#include <string>
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

// At which levels of a machine steals differ, and what they take there.

// Groups of equally many cpus, larger than those of the level inside.
struct StealLevel {
  nigh::level level = nigh::level::host;  // the smallest that has these groups
  std::vector<nigh::level> same{};        // larger ones that have the same
  int cpus = 1;                           // in a group
  int owner = 0, thief = 0;               // two cpus of one, as far from each other as they get

  bool operator==(StealLevel const&) const = default;
};

// Inside out; the last is all of the machine. A level whose groups differ in size is left out; one
// cpu has none.
std::vector<StealLevel> steal_levels(nigh::topology const& machine);

struct StealCosts {
  Samples line;      // a cache line from one cpu to the other and back, ns
  Samples steal;     // from a fork until its worker sees that the other one has begun it, ns
  Samples gb_per_s;  // of a copy of what the other one has just written
};

StealCosts measure_steals(nigh::topology const& machine, StealLevel const& level, int repetitions);

// A topology in hwloc's synthetic notation.

// Of what this process may use. Empty where the notation cannot say it: objects of one kind hold
// different numbers of others.
std::string synthetic_of(nigh::topology const& machine);

}  // namespace bench
