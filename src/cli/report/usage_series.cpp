// SPDX-License-Identifier: Apache-2.0
#include "cli/report/usage_series.hpp"

#include <algorithm>

namespace nigh::cli {

void UsageSeries::add(double seconds, std::vector<platform::ThreadSample> const& threads) {
  Interval now{intervals_.empty() ? 0 : intervals_.back().end, seconds};
  if (now.end <= now.begin) return;
  for (auto const& t : threads) {
    auto& before = before_[{t.process, t.thread}];
    if (t.busy_ns > before) now.busy_ns[t.cpu] += t.busy_ns - before;
    before = std::max(before, t.busy_ns);
  }
  intervals_.push_back(std::move(now));
  constexpr std::size_t most = 4096;
  if (intervals_.size() >= most) halve();
}

// Two neighbours become one.
void UsageSeries::halve() {
  for (std::size_t i = 0; i + 1 < intervals_.size(); i += 2) {
    auto both = std::move(intervals_[i]);
    both.end = intervals_[i + 1].end;
    for (auto const& [cpu, ns] : intervals_[i + 1].busy_ns) both.busy_ns[cpu] += ns;
    intervals_[i / 2] = std::move(both);
  }
  intervals_.resize(intervals_.size() / 2);
}

std::map<int, std::vector<double>> UsageSeries::busy(double seconds, std::size_t parts) const {
  std::map<int, std::vector<double>> busy;
  double const length = seconds / static_cast<double>(parts);
  if (length <= 0) return busy;
  for (auto const& interval : intervals_) {
    double const duration = interval.end - interval.begin;
    auto const last = std::min(parts, static_cast<std::size_t>(interval.end / length) + 1);
    for (auto part = static_cast<std::size_t>(interval.begin / length); part < last; ++part) {
      double const begin = std::max(interval.begin, static_cast<double>(part) * length);
      double const end = std::min(interval.end, static_cast<double>(part + 1) * length);
      if (end <= begin) continue;
      for (auto const& [cpu, ns] : interval.busy_ns) {
        auto& row = busy[cpu];
        row.resize(parts);
        row[part] += 1e-9 * static_cast<double>(ns) * (end - begin) / (duration * length);
      }
    }
  }
  for (auto& [cpu, row] : busy)
    for (auto& share : row) share = std::min(share, 1.0);
  return busy;
}

}  // namespace nigh::cli
