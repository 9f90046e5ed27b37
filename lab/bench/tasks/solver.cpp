// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

namespace bench {

using workloads::Answer;
using workloads::Family;
using workloads::Instance;
using workloads::Team;

Instance& Solver::instance(Question const& q) {
  auto& found = instances_[q];
  if (found == nullptr) {
    workloads::Problem const* const problem = workloads::find_problem(q.problem);
    if (problem == nullptr) throw std::invalid_argument("no problem \"" + q.problem + "\"");
    found = problem->make(q.size, q.cutoff);
  }
  return *found;
}

Team& Solver::team(Family family, int threads) {
  auto& found = teams_[{family, threads}];
  if (found == nullptr) {
    workloads::TeamOptions options = most_;
    options.cpus.resize(static_cast<std::size_t>(threads));
    found = make_team(family, options);
  }
  return *found;
}

Timed Solver::solve(Question const& q, Family family, int threads, int times) {
  Instance& one = instance(q);
  Team& members = team(family, threads);
  Timed result;
  bool agree = true;
  for (int n = 0; n < times; ++n) {
    one.prepare();
    auto const start = std::chrono::steady_clock::now();
    members.run([&] { one.solve(family); });
    result.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
    Answer const answer = one.answer();
    agree = agree && (n == 0 || answer == result.answer);
    result.answer = answer;
  }
  if (!agree) result.answer = ~one.expected();
  return result;
}

int times_for(double seconds, double sample_seconds) noexcept {
  constexpr double most = 50;
  return static_cast<int>(
      std::clamp(std::ceil(sample_seconds / std::max(seconds, 1e-9)), 1.0, most));
}

}  // namespace bench
