// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program in one configuration after the other, as the search asks for them.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/program_output.hpp"
#include "cli/tune/metric.hpp"
#include "cli/tune/others_use.hpp"
#include "cli/tune/outcome.hpp"
#include "cli/tune/space.hpp"
#include "platform/affinity.hpp"
#include "platform/launch.hpp"
#include "tune/search.hpp"

namespace nigh::cli {

class Tuning {
 public:
  using Clock = std::chrono::steady_clock;
  using MakeLaunch = std::function<platform::Launch(int candidate)>;

  Tuning(Space space, Metric metric, std::chrono::nanoseconds budget, MakeLaunch make_launch,
         tune::SearchOptions options);

  // Until it is decided, the time is up, or a signal interrupts; returns that signal, or 0.
  int run();

  Outcome outcome() const;
  // Why nothing can be compared; empty: something can. For a program as it is, that it fails:
  // nothing else makes sense without it. Ranks may be too many for a program, or an odd number.
  std::string failure() const;
  // The exit status that env(1) has for that: 126 or 127 where the program could not be started, else 1.
  int failure_status() const { return not_started_; }

 private:
  int run_candidates();
  int interrupted(int signal);
  std::chrono::nanoseconds expected(int candidate) const;
  std::optional<std::chrono::nanoseconds> losing_time() const;
  int run_one(int candidate, std::chrono::nanoseconds left);
  int fail(int candidate, std::string why);
  int rule_out_ranks_of(int candidate);

  Space space_;
  Metric metric_;
  MakeLaunch make_launch_;
  tune::Search search_;
  bool exhaustive_;
  std::vector<std::string> failures_;
  std::optional<int> first_failed_;
  int not_started_ = 1;  // of the first that failed
  std::map<int, double> took_;
  std::optional<ProgramOutput> output_{std::in_place};  // until run() returns
  std::vector<int> cpus_ = platform::affinity_of_this_thread();
  OthersUse others_;
  std::string ended_;
  Clock::time_point start_ = Clock::now(), end_;
};

}  // namespace nigh::cli
