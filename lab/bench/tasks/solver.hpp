// SPDX-License-Identifier: Apache-2.0
#pragma once
// Solves problems in this process, and takes the time.

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "workloads/problem.hpp"
#include "workloads/team.hpp"

namespace bench {

struct Question {
  std::string problem, size;
  int cutoff = 0;

  auto operator<=>(Question const&) const = default;
};

struct Timed {
  double seconds = 0;  // of one solution
  workloads::Answer answer = 0;
};

class Solver {
 public:
  // `most` holds a cpu for each thread that will ever be asked for.
  explicit Solver(workloads::TeamOptions most) : most_(std::move(most)) {}

  // So many times in succession, with that many threads; the mean. When answers differ among
  // themselves, one that does not agree with the expected one is returned.
  Timed solve(Question const& question, workloads::Family family, int threads, int times);

  workloads::Instance& instance(Question const& question);  // std::invalid_argument: no such

 private:
  workloads::Team& team(workloads::Family family, int threads);

  workloads::TeamOptions most_;
  std::map<Question, std::unique_ptr<workloads::Instance>> instances_;
  std::map<std::tuple<workloads::Family, int>, std::unique_ptr<workloads::Team>> teams_;
};

// How often to solve what takes so many seconds, so that a sample is long enough to be timed.
int times_for(double seconds, double sample_seconds) noexcept;

}  // namespace bench
