// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statistics of repeated measurements, for tables and JSON.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

struct Statistics {
  double median = 0, mean = 0, deviation = 0, min = 0, max = 0;  // deviation: of the sample
};

inline double median_of(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  auto const n = samples.size();
  return n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

// Of as many as both have: how much more the first is, sample by sample.
inline double median_of_ratios(std::vector<double> const& samples,
                               std::vector<double> const& others) {
  std::vector<double> ratios;
  for (std::size_t n = 0; n < std::min(samples.size(), others.size()); ++n)
    ratios.push_back(samples[n] / others[n]);
  return median_of(std::move(ratios));
}

// The smallest sample that so large a part of all, 0 < part <= 1, is not above.
inline double quantile(std::vector<double> samples, double part) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  auto const rank = std::ceil(part * static_cast<double>(samples.size()));
  return samples[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

inline Statistics statistics_of(std::vector<double> const& samples) {
  if (samples.empty()) return {};
  Statistics s;
  s.median = median_of(samples);
  s.min = *std::min_element(samples.begin(), samples.end());
  s.max = *std::max_element(samples.begin(), samples.end());
  for (double const x : samples) s.mean += x;
  s.mean /= static_cast<double>(samples.size());
  if (samples.size() > 1) {
    for (double const x : samples) s.deviation += (x - s.mean) * (x - s.mean);
    s.deviation = std::sqrt(s.deviation / static_cast<double>(samples.size() - 1));
  }
  return s;
}

}  // namespace bench
