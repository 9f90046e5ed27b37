// SPDX-License-Identifier: Apache-2.0
#pragma once
// The effect of each option's values on the cost, taken alone: log cost = mean + one effect for
// each option. Options do interact, so this says where to look next, and how far it can be wrong;
// it does not say which configuration wins.

#include <span>
#include <vector>

#include "tune/candidate.hpp"

namespace nigh::tune {

class Effects {
 public:
  // A fit to the known candidates.
  Effects(std::span<Candidate const> candidates, std::span<Measured const> measured);

  double log_cost(Candidate const& c) const;
  // Root mean square by which the fit misses its own data, with freedom accounted for; with little
  // data, the assumption that options interact by a tenth.
  double doubt() const { return doubt_; }

 private:
  double mean_ = 0;
  double doubt_ = 0;
  std::vector<std::vector<double>> effect_;  // [option][value]
};

}  // namespace nigh::tune
