// SPDX-License-Identifier: Apache-2.0
#pragma once
// Configurations to choose among, and their measurements: plain data.

#include <vector>

namespace nigh::tune {

// For each option (threads, binding, ...) the index of its value.
using Candidate = std::vector<int>;

// The measurements of one candidate. Costs are positive, smaller is better.
struct Measured {
  std::vector<double> costs = {};
  bool failed = false;  // it cannot run, and is out
  bool lost = false;    // every run was stopped, being so much dearer: the costs are lower bounds

  bool known() const { return !costs.empty() && !failed; }
};

}  // namespace nigh::tune
