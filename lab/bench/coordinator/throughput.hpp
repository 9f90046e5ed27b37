// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of OpenMP programs on one host: in turn, all at once, all at once with as many threads as
// each uses well, and all at once under the coordinator.

#include <nigh/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/coordinator/programs.hpp"
#include "bench/results.hpp"

namespace bench {

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

}  // namespace bench
