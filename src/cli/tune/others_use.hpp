// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many cpus did other programs keep busy while ours were measured?

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "platform/affinity.hpp"
#include "platform/cpu_times.hpp"

namespace nigh::cli {

// Sums up measurements that are arguments.
class OthersUse {
 public:
  // A run took so long, during which the cpus that it may use worked so long, for it and others.
  void add(double seconds, double busy_seconds, double own_seconds) {
    seconds_ += seconds;
    others_seconds_ += std::max(0.0, busy_seconds - own_seconds);
  }

  // Mean number of cpus. The system counts in hundredths of a second: nothing for less than one.
  std::optional<double> cpus() const {
    constexpr double least = 1;
    if (seconds_ < least) return std::nullopt;
    return others_seconds_ / seconds_;
  }

 private:
  double seconds_ = 0, others_seconds_ = 0;
};

// Half a cpu, or a tenth of few cpus, is in the way of a program that uses them all.
inline bool is_busy(double others_cpus, int cpus) { return others_cpus >= std::min(0.5, 0.1 * cpus); }

// "others kept 1.3 of 2 cpus busy"; empty: they did not, or nobody knows.
std::string busy_text(std::optional<double> others_cpus, int cpus);

// Measures a run for an OthersUse: from here to its end.
class RunWatch {
 public:
  explicit RunWatch(std::vector<int> const& cpus)
      : cpus_(cpus), before_(platform::busy_seconds(cpus)) {}

  void end(double seconds, double own_seconds, OthersUse& use) const {
    auto const after = platform::busy_seconds(cpus_);
    if (before_ && after) use.add(seconds, *after - *before_, own_seconds);
  }

 private:
  std::vector<int> const& cpus_;
  std::optional<double> before_;
};

}  // namespace nigh::cli
