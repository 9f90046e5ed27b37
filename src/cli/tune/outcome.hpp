// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of a search, as text for a person, as JSON lines, as a figure.

#include <string>
#include <vector>

#include "cli/tune/metric.hpp"
#include "cli/tune/space.hpp"
#include "tune/search.hpp"

namespace nigh::cli {

struct Outcome {
  Space const& space;
  tune::Search const& search;
  Metric const& metric;
  std::vector<bool> cut_short = {};  // [candidate]: stopped when it had lost; its cost is a bound
  std::vector<std::string> failures = {};  // [candidate]: why; empty: none
  double seconds = 0;                      // in all
  std::string ended = {};                  // why before the search was done; empty: it was done
};

std::string ranking_text(Outcome const& found);
std::string results_json(Outcome const& found, std::string const& machine);
// Time (or the metric) by threads, a line for each binding and memory policy.
std::string figure_svg(Outcome const& found, std::string const& title);

}  // namespace nigh::cli
