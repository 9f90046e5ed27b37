// SPDX-License-Identifier: Apache-2.0
#pragma once
// The threads a variant runs on.

#include <functional>
#include <memory>
#include <vector>

#include "workloads/problem.hpp"

namespace nigh {
class topology;
}

namespace workloads {

struct TeamOptions {
  nigh::topology const* machine = nullptr;
  std::vector<int> cpus;             // of thread t; as many as threads
  std::function<bool(int cpu)> pin;  // pins the calling thread; empty: leave threads where they are

  int threads() const noexcept { return static_cast<int>(cpus.size()); }
  void pin_thread(int thread) const {
    if (pin) pin(cpus[static_cast<std::size_t>(thread)]);
  }
};

// Threads of one family's runtime, asleep between calls.
class Team {
 public:
  virtual ~Team() = default;
  // Calls body() once in one of the threads, and lets the others take part in the tasks it makes.
  virtual void run(std::function<void()> const& body) = 0;
};

std::unique_ptr<Team> make_team(Family family, TeamOptions const& options);

std::unique_ptr<Team> make_openmp_team(TeamOptions const& options);
std::unique_ptr<Team> make_tbb_team(TeamOptions const& options);
std::unique_ptr<Team> make_nigh_team(TeamOptions const& options);

}  // namespace workloads
