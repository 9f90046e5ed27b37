// SPDX-License-Identifier: Apache-2.0
#pragma once
// How busy a program kept each cpu while it ran, from samples of its threads. Plain data in, plain
// data out.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "platform/process_usage.hpp"

namespace nigh::cli {

class UsageSeries {
 public:
  void add(double seconds, std::vector<platform::ThreadSample> const& threads);

  // [cpu][part]: which share of each part of [0, seconds] the program worked on the cpu. The
  // work of a thread between two samples counts for the cpu on which the second one found it.
  std::map<int, std::vector<double>> busy(double seconds, std::size_t parts) const;

 private:
  struct Interval {
    double begin = 0, end = 0;
    std::map<int, std::uint64_t> busy_ns = {};  // [cpu]
  };
  void halve();

  std::vector<Interval> intervals_;
  std::map<std::pair<int, int>, std::uint64_t> before_;  // [process, thread]: busy so far
};

}  // namespace nigh::cli
