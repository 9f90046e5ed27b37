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

}  // namespace nigh::sim
