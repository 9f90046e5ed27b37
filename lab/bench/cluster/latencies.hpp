// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output of programs that time single steals between two ranks: a line for each, NAME us
// SAMPLE...; of a busy victim another, NAME late SAMPLE..., for how long after its task that was.

#include <optional>
#include <string>
#include <vector>

#include "bench/cluster/options.hpp"
#include "bench/results.hpp"

namespace bench {

struct Latency {
  std::string name;
  std::vector<double> us, late;
  std::string absent;  // why there are no samples

  // Of a steal in shared memory.
  std::optional<double> promised_us() const;
  double share_within(double limit_us) const;

  // A busy rank answers within the task that it runs and 20 us; or within 200 us, if nobody has
  // looked.
  bool is_of_busy_victim() const { return name.find("/busy-") != name.npos; }
  double share_after_task() const;
  double share_after_task_or_fallback() const;
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
