// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/by_distance.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "bench/statistics.hpp"

namespace bench {

ByDistance::ByDistance(TemporalStudy const& study) {
  for (TemporalCell const& cell : study.cells)
    for (CpuDistance const& d : cell.cpus) round_trips_.push_back(d.before);
  if (round_trips_.empty()) return;
  longest_near_ = 2 * *std::min_element(round_trips_.begin(), round_trips_.end());
  for (TemporalCell const& cell : study.cells)
    for (std::size_t n = 0; n < cell.cpus.size(); ++n)
      copies_[kind_of(cell.cpus[n].before)].push_back(cell.copy_rates[n]);
}

std::vector<double> ByDistance::rates(TemporalCell const& cell, Kind kind) const {
  std::vector<double> found;
  for (std::size_t n = 0; n < cell.cpus.size(); ++n)
    if (kind_of(cell.cpus[n].before) == kind && kind_of(cell.cpus[n].after) == kind)
      found.push_back(cell.rates[n]);
  return found;
}

std::optional<double> ByDistance::of_limit(TemporalCell const& cell, Kind kind) const {
  auto const found = rates(cell, kind);
  if (found.empty()) return std::nullopt;
  return median_of(found) / median_of(copies_[kind]);
}

std::string ByDistance::describe_cpus() const {
  if (round_trips_.empty()) return "";
  Statistics const trip = statistics_of(round_trips_);
  auto out = fmt::format(
      "cpus: a cache line goes from the first to the second and back in {:.0f} ns ({:.0f} to "
      "{:.0f})\n",
      trip.median, trip.min, trip.max);
  if (!both()) return out;
  for (Kind const kind : {near, far}) {
    Statistics const c = statistics_of(copies_[kind]);
    out += fmt::format(
        "      {} {:.0f} ns at {} of {} copies: limit {:.0f} MLUP/s ({:.0f} to {:.0f})\n",
        kind == near ? "up to" : "above", longest_near_, copies_[kind].size(), round_trips_.size(),
        c.median, c.min, c.max);
  }
  return out;
}

std::string ByDistance::describe_limit(TemporalCell const& cell) const {
  if (!both()) return "";
  auto const of = [&](Kind kind) {
    auto const share = of_limit(cell, kind);
    return share ? fmt::format("{:.2f} ({} of {} samples)", *share, rates(cell, kind).size(),
                               cell.rates.size())
                 : "no sample";
  };
  return fmt::format("the same by where the cpus were: {} up to {:.0f} ns, {} above\n", of(near),
                     longest_near_, of(far));
}

}  // namespace bench
