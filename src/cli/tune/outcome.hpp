// SPDX-License-Identifier: Apache-2.0
#pragma once
// The results of a search, as text for a person, as JSON lines.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/tune/metric.hpp"
#include "cli/tune/others_use.hpp"
#include "cli/tune/space.hpp"
#include "tune/choice.hpp"
#include "tune/search.hpp"

namespace nigh::cli {

struct Outcome {
  Space const& space;
  tune::Search const& search;
  Metric const& metric;
  std::vector<std::string> failures = {};  // [candidate]: why; empty: none
  double seconds = 0;                      // in all
  std::string ended = {};                  // why before the search was done; empty: it was done
  std::optional<double> others_cpus = {};  // that others kept busy meanwhile; nothing: not known
  int cpus = 1;                            // that the program may use

  tune::Choice choice() const { return tune::choose(search.measured(), 1); }  // something ran
  // Others had a part in the times: what won may lose in a quiet hour.
  bool is_disturbed() const {
    return others_cpus && is_busy(*others_cpus, cpus);
  }
};

std::string ranking_text(Outcome const& found);
// `program` and `machine` are for a figure's foot.
std::string results_json(Outcome const& found, std::string const& program,
                         topology const& machine);

}  // namespace nigh::cli
