// SPDX-License-Identifier: Apache-2.0
#pragma once
// Each policy on the same semi-random requests: how long it takes to decide, and what comes of it.

#include <nigh/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/coordinator/programs.hpp"
#include "bench/results.hpp"
#include "sim/team_requests.hpp"

namespace bench {

namespace policy = nigh::policy;

struct PolicyOptions {
  long requests = 10000;
  long repetitions = 5;  // each with requests of its own
  long seed = 2010;
};

// Once through all requests.
struct PolicyRun {
  nigh::sim::TeamSums sums;
  double p50_us = 0, p99_us = 0;  // of a decision
};

struct PolicyCell {
  std::string machine;
  int cpus = 0, programs = 0;
  std::string policy;
  bool is_timed = true;  // random cpus are nobody's policy
  std::vector<PolicyRun> runs;
};

struct PolicyStudy {
  PolicyOptions options;
  std::vector<PolicyCell> cells;

  PolicyCell const& beside(PolicyCell const& cell, std::string_view policy) const;
};

PolicyStudy study_policies(PolicyOptions const& options);
std::string describe(PolicyStudy const& study);
std::vector<Result> results(PolicyStudy const& study);

// A set of OpenMP programs on one host: in turn, all at once, all at once with as many threads as
// each uses well, and all at once under the coordinator.

struct ThroughputOptions {
  long repetitions = 5;
  long programs = 0;              // 0: each once; else so many at random
  double mean_pause_seconds = 0;  // between their starts
  long seed = 1;
  bool tiny = false;
  std::vector<std::string> policies = {};  // the coordinator under each; else under its usual one
};

// How a program runs with nobody beside it.
struct Alone {
  std::vector<double> seconds;  // [threads - 1]
  int best_threads = 1;         // the most with a speedup within 20% of ideal
};

struct Sharing {  // a way to run the set
  std::string name;
  std::string policy = {};               // of the coordinator; empty: there is none
  std::vector<double> seconds = {};      // until the last has ended, by repetition
  std::vector<double> mean_end = {};     // of a program, since it came
  std::vector<double> cpu_seconds = {};  // of all programs
  std::vector<double> joules = {};       // of the processor; empty: cannot be read here
  std::vector<double> granted = {};      // programs that the coordinator gave cpus
  bool same_outputs = true;
  std::string absent = {};
};

struct ThroughputStudy {
  ThroughputOptions options;
  std::vector<SharingProgram> programs;
  std::vector<Alone> alone;  // by program
  std::vector<Sharing> ways;

  Sharing const& way(std::string_view name) const;
  // Median over repetitions of (this one's seconds / the other's).
  double ratio(Sharing const& way, std::string_view other) const;
};

ThroughputStudy study_throughput(ThroughputOptions const& options, nigh::topology const& machine);
std::string describe(ThroughputStudy const& study);
std::vector<Result> results(ThroughputStudy const& study);

// The time to enter and leave a parallel region: alone, with the shim, with a lease that is
// kept, with a message for each; beside a message to a process that does nothing else, and beside
// waking one, which no message to a daemon that sleeps can do without.

struct OverheadOptions {
  long repetitions = 5;
  long regions = 1'000'000;  // in a row
  long messages = 900;       // and other things that take a process that sleeps
  long pause_us = 200;       // before each of these, for the daemon to fall asleep
};

struct OverheadStudy {
  OverheadOptions options;
  std::vector<Result> results;
};

OverheadStudy study_overhead(OverheadOptions const& options);
std::string describe(OverheadStudy const& study);

// How long after `kill -9` of a program do its cpus go to one that waits for them? On a host that
// does nothing else, and on one that others keep busy.

struct DeathOptions {
  long repetitions = 5;
  long kills = 40;        // each a repetition's; every one is a sample
  long busy_per_cpu = 4;  // threads of others, on the host that is busy
  long memory_mib = 1;    // that the program has written to, and the kernel has to free
};

struct DeathStudy {
  DeathOptions options;
  std::vector<Result> results;
};

DeathStudy study_death(DeathOptions const& options, nigh::topology const& machine);
std::string describe(DeathStudy const& study);

// What does a message cost the coordinator while others' requests wait, from ten to 16,000 of them?
// In the state machine itself: sockets cost the same whatever waits.

struct QueueOptions {
  long repetitions = 5;
  long messages = 20'000;  // of each kind, in each repetition
};

struct QueueStudy {
  std::vector<Result> results;
};

QueueStudy study_queue(QueueOptions const& options);
std::string describe(QueueStudy const& study);

}  // namespace bench
