// SPDX-License-Identifier: Apache-2.0
#pragma once
// The environment variables that nigh reads, and the complaint about others with its prefix.
// docs/environment.md says what each does; tests/docs/reference_test.py compares the two.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest_name.hpp"

namespace nigh::base {

inline constexpr std::array known_variables{
    "NIGH_ADJUST",          "NIGH_CHECK_WRITES",   "NIGH_CHUNKS",        "NIGH_CLUSTER_CHUNKS",
    "NIGH_CLUSTER_SILENCE", "NIGH_CLUSTER_SPARES", "NIGH_CLUSTER_START", "NIGH_CLUSTER_VICTIMS",
    "NIGH_COORDINATOR",     "NIGH_COUNT_TASKS",    "NIGH_CPUS",          "NIGH_DEPTH_CUTOFF",
    "NIGH_LOCALITY",        "NIGH_OPENMP_CPUS",    "NIGH_OPENMP_TEAM",   "NIGH_OPENMP_TIMES",
    "NIGH_ORDER",           "NIGH_PROFILES",       "NIGH_PYTHON",        "NIGH_QUEUE_CAPACITY",
    "NIGH_QUEUE_CUTOFF",    "NIGH_QUEUE_LEVEL",    "NIGH_SCHEDULE",      "NIGH_SOCKET",
    "NIGH_SPREADS",         "NIGH_SWITCHES",       "NIGH_TASKS",         "NIGH_TASK_CAPACITY",
    "NIGH_THREAD_STACK",    "NIGH_TRACE",          "NIGH_VERBOSE",       "NIGH_VICTIMS",
    "NIGH_WORKERS"};

// Set by commands of nigh for programs, and for each other.
inline constexpr std::array inner_variables{
    "NIGH_BENCH_RESTARTED", "NIGH_BLOCKTIME", "NIGH_OPENMP_CPU_ORDER", "NIGH_OPENMP_MACHINE",
    "NIGH_OPENMP_SPREAD",   "NIGH_PLACES",    "NIGH_UNKNOWN_NAMED",    "NIGH_VERBOSE_PROGRAM"};

// Where nigh is installed, as module systems and package managers say it; no concern of a program.
inline constexpr std::array places_variables{"NIGH_BASE", "NIGH_BIN",     "NIGH_DIR", "NIGH_HOME",
                                             "NIGH_INC",  "NIGH_INCLUDE", "NIGH_LIB", "NIGH_PREFIX",
                                             "NIGH_ROOT", "NIGH_VERSION"};

// Of `names`, those with nigh's prefix that are none of the above.
inline std::vector<std::string> unknown_variables(std::vector<std::string> const& names) {
  constexpr std::string_view prefix = "NIGH_";
  // Of nigh's own tests.
  constexpr std::array<std::string_view, 3> prefixes_of_tests{"NIGH_REQUIRE_", "NIGH_TEST_",
                                                              "NIGH_CHAOS_"};
  std::vector<std::string> unknown;
  for (auto const& name : names) {
    auto const is_it = [&](std::string_view known) { return name == known; };
    if (!name.starts_with(prefix) ||
        std::any_of(known_variables.begin(), known_variables.end(), is_it) ||
        std::any_of(inner_variables.begin(), inner_variables.end(), is_it) ||
        std::any_of(places_variables.begin(), places_variables.end(), is_it) ||
        std::any_of(prefixes_of_tests.begin(), prefixes_of_tests.end(),
                    [&](std::string_view start) { return name.starts_with(start); }))
      continue;
    unknown.push_back(name);
  }
  return unknown;
}

// "NIGH_WORKRES is no variable that nigh knows; did you mean 'NIGH_WORKERS'?"
inline std::string unknown_variable(std::string const& name) {
  constexpr auto prefix = std::string_view("NIGH_").size();
  std::vector<std::string> endings;
  for (std::string_view known : known_variables) endings.emplace_back(known.substr(prefix));
  auto const nearest = nearest_name(std::string_view(name).substr(prefix), endings);
  return name + " is no variable that nigh knows; " +
         (nearest.empty() ? "docs/environment.md lists them"
                          : "did you mean 'NIGH_" + nearest + "'?");
}

}  // namespace nigh::base
