// SPDX-License-Identifier: Apache-2.0
#pragma once
// The experiments of the paper on topology-aware OpenMP process scheduling, once for each seed.

#include <cstdint>
#include <nigh/result.hpp>
#include <string>
#include <vector>

#include "sim/hosts/throughput.hpp"
#include "sim/team_requests.hpp"

namespace nigh::sim {

// Slides 20-21: semi-random requests against each policy, and against random cpus.
struct RequestCell {
  std::string policy;  // "random": nobody's
  std::vector<TeamSums> sums;
};

struct RequestOptions {
  int programs = 6;
  int requests = 10000;
  int seeds = 5;
  std::uint64_t seed = 2010;
};

std::vector<RequestCell> study_requests(policy::CoreMap const& map, RequestOptions const& options);

// Slides 23-24: a set of programs, total time in several ways.
struct WayCell {
  Way way = Way::sequential;
  std::vector<HostOutcome> outcomes;
};

struct SetOptions {
  int programs = 13;
  int at_once = 13;
  int seeds = 5;
  std::uint64_t seed = 2010;
  DataPlace data = DataPlace::interleaved;
  std::vector<Way> ways;
};

result<std::vector<WayCell>> study_set(Machine const& machine, policy::CoreMap const& map,
                                       MeasuredPrograms const& measured, SetOptions const& options);

}  // namespace nigh::sim
