// SPDX-License-Identifier: Apache-2.0
#pragma once
// What becomes of a driver's results: tables for people, JSON lines, a figure.

#include <string>
#include <vector>

#include "bench/plot.hpp"
#include "bench/results.hpp"

namespace bench {

class Report {
 public:
  // What --json and --plot were given; UsageError where either cannot be written, before anything
  // is measured.
  Report(std::string const& json, std::string const& plot, nigh::topology const& machine)
      : tables_(json == "-" ? stderr : stdout),
        plot_("--plot", plot),
        json_("--json", json),
        record_(record_run(machine)) {}

  // On standard error when standard output is for the lines.
  void print(std::string const& tables);
  void keep(std::vector<Result> const& results);
  // Draws plots/SCRIPT.py; std::runtime_error(complaint) if a result was verified and wrong.
  void finish(std::string const& script, char const* complaint);

 private:
  std::FILE* tables_;
  Plot plot_;
  ResultFile json_;
  RunRecord const record_;
  bool verified_ = true;
};

}  // namespace bench
