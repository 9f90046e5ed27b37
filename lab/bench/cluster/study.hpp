// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every problem on one rank with one worker, on one with as many as there are ranks, and on ranks
// of one worker under each policy; those of one problem in turn.

#include <map>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/processes.hpp"
#include "bench/results.hpp"

namespace bench {

// How the programs of many ranks are started, and what they say.

class Launcher {
 public:
  // mpi: "openmpi", "mpich" or "openmpi5", empty for the first of them that is here. words: with
  // "{ranks}", and the program's own words behind them; empty: as that MPI's mpirun is called.
  // UsageError that names --launcher, or the option that asks for that MPI.
  Launcher(std::string mpi, std::string const& words, char const* option = "--mpi");

  std::string const& mpi() const noexcept { return mpi_; }
  std::string text() const;

  // libexec/nigh/PROGRAM-MPI on so many ranks, or, with 0, without a launcher.
  Command command(std::string const& program, std::vector<std::string> const& arguments,
                  int ranks) const;

 private:
  std::string mpi_;
  std::vector<std::string> words_;
};

// The report (--report, on standard error) of a program that has ended well.
struct RankReport {
  int ranks = 0;
  std::vector<double> seconds;
  std::map<std::string, double> counters;  // of all ranks together
};

RankReport parse_report(std::string errors);

// The text that a session prints with NIGH_VERBOSE; empty: none.
std::string session_note(Ended const& ended);

// The first line that says something; launchers draw boxes around theirs.
std::string complaint_of(Ended const& ended);

// The checked options of nigh bench cluster.

struct ClusterProblem {
  std::string name, size;
  bool has_policies() const { return name != "jacobi3d"; }  // its ranks share it out beforehand
};

// The victims of a rank and its chunk size, as cluster-tasks calls them.
struct StealPolicy {
  std::string victims, chunks;
  std::string name() const { return victims + '+' + chunks; }
};

struct ClusterOptions {
  ClusterOptions(nigh::topology live, Launcher starts)
      : machine(std::move(live)), launcher(std::move(starts)) {}

  nigh::topology machine;
  Launcher launcher;
  int ranks = 2, repetitions = 5;
  bool latencies = false, quick = false, supervised = false;  // supervised: policies once more so
  std::vector<ClusterProblem> problems;
  std::vector<StealPolicy> policies;
  std::string note;  // what one should know of this setting; empty: nothing
};

struct ClusterCell {
  int ranks = 1, workers = 1;  // workers: of each rank
  StealPolicy policy;          // empty: there is nobody to ask, or nothing to ask for
  bool supervised = false;

  std::vector<double> seconds;                          // one for each repetition
  std::map<std::string, std::vector<double>> counters;  // of one solution, all ranks together
  bool verified = true;

  std::string name() const;  // "shared/2", "ranks/random+half"
};

struct ClusterGroup {
  ClusterProblem problem;
  std::string answer;  // of the first run; all others' must be the same
  std::vector<ClusterCell> cells;

  ClusterCell const& alone() const { return cells[0]; }
  ClusterCell const& shared() const { return cells[1]; }
  ClusterCell const* with(std::string const& policy) const;  // null: was not asked for
};

struct ClusterStudy {
  std::vector<ClusterGroup> groups;
};

// How many times as fast as the other one: median over repetitions.
double speed_over(ClusterCell const& cell, ClusterCell const& other);

ClusterStudy study(ClusterOptions const& options);
std::string describe(ClusterStudy const& study, ClusterOptions const& options);
std::vector<Result> results(ClusterStudy const& study, ClusterOptions const& options);

// The output of programs that time single steals between two ranks: a line for each, NAME us
// SAMPLE...; of a busy victim another, NAME late SAMPLE..., for how long after its task that was.

struct Latency {
  std::string name;
  std::vector<double> us, late;
  std::string absent;  // why there are no samples

  // Of a steal in shared memory.
  std::optional<double> promised_us() const;
  double share_within(double limit_us) const;

  // A busy rank answers within the task that it runs and 20 us; or within 200 us, if nobody has
  // looked.
  bool is_of_busy_victim() const { return name.find("/busy-") != name.npos; }
  double share_after_task() const;
  double share_after_task_or_fallback() const;
};

struct LatencyStudy {
  std::vector<Latency> all;

  // Of the same sizes, sample by sample how many times as long; nothing for what is no steal by
  // messages.
  std::optional<double> over_ping_pong(Latency const& l) const;
};

LatencyStudy study_latencies(ClusterOptions const& options);
std::string describe(LatencyStudy const& study, ClusterOptions const& options);
std::vector<Result> results(LatencyStudy const& study, ClusterOptions const& options);

}  // namespace bench
