// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of programs on one host in several ways: one after the other, all at once, and under the
// coordinator with each of its policies. How long until the last has ended?

#include <array>
#include <cstdint>
#include <nigh/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/hosts/shared_host.hpp"
#include "sim/team_requests.hpp"

namespace nigh::sim {

enum class Way : std::uint8_t {
  sequential,  // one after the other, each with as many threads as there are cpus
  standard,    // at once, likewise
  fixed,       // at once, each region with the threads that are optimal for it alone
  simple,      // at once, under the coordinator: by policy, told what regions can use
  nearest,
  clustered,
  adjusting,
  learning,  // clustered-adjusting, not told: the coordinator learns
};

inline constexpr std::array<std::string_view, 8> way_names{"sequential",
                                                           "standard",
                                                           "fixed",
                                                           "coordinator/simple",
                                                           "coordinator/nearest",
                                                           "coordinator/clustered",
                                                           "coordinator/clustered-adjusting",
                                                           "coordinator/learning"};

constexpr std::string_view to_string(Way w) noexcept {
  return way_names[static_cast<std::size_t>(w)];
}

// The threads that programs can use on a machine, measured there once.
class MeasuredPrograms {
 public:
  MeasuredPrograms(Machine const& machine, policy::CoreMap const& map);

  HostedProgram const& operator[](int program) const {
    return hosted_[static_cast<std::size_t>(program)];
  }

 private:
  std::vector<HostedProgram> hosted_;  // of paper_programs()
};

struct ThroughputCase {
  std::vector<int> programs;  // of paper_programs()
  int at_once = 1;
  Way way = Way::sequential;
  std::uint64_t seed = 1;
  DataPlace data = DataPlace::interleaved;
};

result<HostOutcome> run_programs(Machine const& machine, policy::CoreMap const& map,
                                 MeasuredPrograms const& measured, ThroughputCase const& what);

// The experiments of the paper on topology-aware OpenMP process scheduling, once for each seed.

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
