// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples by where the first two workers' cpus were. A host may run two cpus of a virtual machine
// on cores that share a last cache and its link to memory, and some seconds later on cores that
// have one each. Their copy rate changes with that; how long a cache line takes from one to the
// other tells.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bench/temporal/study.hpp"

namespace bench {

class ByDistance {
 public:
  enum Kind { near, far };  // up to twice the shortest round trip of the run, and longer ones

  explicit ByDistance(TemporalStudy const& study);

  std::vector<double> const& round_trips() const noexcept {
    return round_trips_;
  }  // ns, before each copy
  bool both() const noexcept { return !copies_[near].empty() && !copies_[far].empty(); }
  std::vector<double> const& copies(Kind kind) const noexcept { return copies_[kind]; }
  // Of the samples before and after which the cpus lay so.
  std::vector<double> rates(TemporalCell const& cell, Kind kind) const;
  // Median of these beside the median of such copies; nothing where there are none.
  std::optional<double> of_limit(TemporalCell const& cell, Kind kind) const;

  // Lines for people: all that is known of the cpus, empty with one of them; and of a cell by both
  // kinds, empty where there is only one.
  std::string describe_cpus() const;
  std::string describe_limit(TemporalCell const& cell) const;

 private:
  std::vector<double> round_trips_;
  std::array<std::vector<double>, 2> copies_;
  double longest_near_ = 0;

  Kind kind_of(double round_trip) const noexcept {
    return round_trip <= longest_near_ ? near : far;
  }
};

}  // namespace bench
