// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which runs of a scaling study fit into a time? Pure: nothing is measured here.

#include <algorithm>
#include <vector>

namespace nigh::cli {

struct ScalingRuns {
  std::vector<int> sizes = {};  // of teams, ascending; none: not even two of several fit
  int repetitions = 1;
};

// The program took `seconds` with `usual` threads. With fewer it may take as many times longer, so
// repetitions go first, then the smallest teams.
inline ScalingRuns within_budget(ScalingRuns wanted, double seconds, int usual, double budget_s) {
  auto const cost = [&] {
    double sum = 0;
    for (int const size : wanted.sizes)
      sum += seconds * std::max(1.0, static_cast<double>(usual) / size);
    return sum * wanted.repetitions;
  };
  bool const compares = wanted.sizes.size() > 1;
  while (wanted.repetitions > 1 && cost() > budget_s) --wanted.repetitions;
  while (!wanted.sizes.empty() && cost() > budget_s) wanted.sizes.erase(wanted.sizes.begin());
  if (compares && wanted.sizes.size() < 2) wanted.sizes.clear();
  return wanted;
}

}  // namespace nigh::cli
