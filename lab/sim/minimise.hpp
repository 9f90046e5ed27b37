// SPDX-License-Identifier: Apache-2.0
#pragma once
// The least value of a function that can only be asked: the simplex of Nelder and Mead (1965). No
// random numbers, so that a fit is the same each time.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace nigh::sim {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

// Begins with `start` and, for each coordinate, start with `step` added there; asks about
// `evaluations` times.
template <class Function>
Minimum minimise(Function function, std::vector<double> const& start,
                 std::vector<double> const& step, int evaluations) {
  auto const n = start.size();
  std::vector<Minimum> corners;
  auto const ask = [&](std::vector<double> at) {
    --evaluations;
    double const value = function(std::as_const(at));
    return Minimum{std::move(at), value};
  };
  corners.push_back(ask(start));
  for (std::size_t i = 0; i < n; ++i) {
    auto at = start;
    at[i] += step[i];
    corners.push_back(ask(std::move(at)));
  }
  auto const sort = [&] {
    std::stable_sort(corners.begin(), corners.end(),
                     [](Minimum const& a, Minimum const& b) { return a.value < b.value; });
  };
  sort();
  while (evaluations > 0) {
    Minimum& worst = corners.back();
    std::vector<double> centre(n, 0);
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t i = 0; i < n; ++i) centre[i] += corners[c].at[i] / static_cast<double>(n);
    auto const along = [&](double factor) {  // from the worst through the centre of the others
      auto at = centre;
      for (std::size_t i = 0; i < n; ++i) at[i] += factor * (centre[i] - worst.at[i]);
      return ask(std::move(at));
    };
    auto reflected = along(1);
    if (reflected.value < corners.front().value) {
      auto expanded = along(2);
      worst = expanded.value < reflected.value ? std::move(expanded) : std::move(reflected);
    } else if (reflected.value < corners[n - 1].value) {
      worst = std::move(reflected);
    } else if (auto inner = along(reflected.value < worst.value ? 0.5 : -0.5);
               inner.value < std::min(reflected.value, worst.value)) {
      worst = std::move(inner);
    } else {
      for (std::size_t c = 1; c <= n; ++c) {
        auto at = corners[c].at;
        for (std::size_t i = 0; i < n; ++i) at[i] = (at[i] + corners[0].at[i]) / 2;
        corners[c] = ask(std::move(at));
      }
    }
    sort();
  }
  return corners.front();
}

}  // namespace nigh::sim
