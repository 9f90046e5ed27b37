// SPDX-License-Identifier: Apache-2.0
#pragma once
// What programs that time single steals between two ranks have to say: a line for each, NAME us
// SAMPLE...

#include <optional>
#include <string>
#include <vector>

#include "bench/cluster/options.hpp"
#include "bench/results.hpp"

namespace bench {

struct Latency {
  std::string name;
  std::vector<double> us;
  std::string absent;  // why there are no samples

  // What a rank that is busy with tasks of that length promises, "answer/busy-100"; and a steal in
  // shared memory.
  std::optional<double> promised_us() const;
  double share_within(double limit_us) const;
};

struct LatencyStudy {
  std::vector<Latency> all;

  // Of the same sizes, sample by sample how many times as long; nothing for what is no steal by
  // messages.
  std::optional<double> over_ping_pong(Latency const& l) const;
};

LatencyStudy study_latencies(ClusterOptions const& options);
std::string describe(LatencyStudy const& study, ClusterOptions const& options);
std::vector<Result> results(LatencyStudy const& study, ClusterOptions const& options);

}  // namespace bench
