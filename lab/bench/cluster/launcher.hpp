// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the programs of many ranks are started, and what they say.

#include <map>
#include <string>
#include <vector>

#include "bench/processes.hpp"

namespace bench {

class Launcher {
 public:
  // mpi: "openmpi" or "mpich", empty for the first of them that is here. words: with "{ranks}", and
  // the program's own words behind them; empty: as that MPI's mpirun is called. UsageError that
  // names --mpi or --launcher.
  Launcher(std::string mpi, std::string const& words);

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

RankReport parse_report(std::string const& errors);

// The text that a session prints with NIGH_VERBOSE; empty: none.
std::string session_note(Ended const& ended);

// The first line that says something; launchers draw boxes around theirs.
std::string complaint_of(Ended const& ended);

}  // namespace bench
