// SPDX-License-Identifier: Apache-2.0
#pragma once
// The run of a program that its user sees: its input, output and status are its own. It is watched
// from outside, its regions are timed if wanted, and its nigh runtimes are recorded.

#include <map>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/profile/study.hpp"
#include "cli/report/trace_series.hpp"
#include "cli/report/usage_series.hpp"
#include "cli/run/whereabouts.hpp"
#include "platform/launch.hpp"
#include "trace/summary.hpp"

namespace nigh::cli {

inline constexpr std::size_t report_parts = 120;  // of the time, in a report's figures

// Its workers and tasks, as a trace has them.
struct TracedTasks {
  trace::Summary summary = {};
  TraceSeries series = {};  // of the process with most tasks
  struct Code {
    std::string name;
    std::uint64_t tasks = 0, ns = 0;
  };
  std::vector<Code> codes = {};  // most time first; of OpenMP tasks only
  double seconds = 0;            // that the run took whose OpenMP tasks nigh ran; 0: there was none
};

struct Observed {
  platform::Ending ending = {};
  Whereabouts seen = {};
  UsageSeries usage = {};
  std::vector<std::pair<double, std::map<int, std::uint64_t>>> pages =
      {};                           // by time: bytes by NUMA node
  bool has_openmp = false;          // its runtime was seen, or its file links to one
  std::optional<Study> study = {};  // of this run only, if its regions were to be timed
  std::optional<TracedTasks> tasks = {};
};

// Throws ExitStatus when the program did not start; that has been reported.
Observed observe(topology const& machine, std::vector<std::string> const& words, bool time_regions);

// Why the regions of this program cannot be timed in the run that is watched; empty: they can.
std::string why_not_timed(topology const& machine, std::string const& program);

// Once more, its OpenMP tasks run by nigh, its output not shown. An error, in one line, says why
// there is nothing.
result<TracedTasks> trace_openmp_tasks(std::vector<std::string> const& words);

}  // namespace nigh::cli
