// SPDX-License-Identifier: Apache-2.0
#include "sim/jacobi/loop_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <vector>

#include "sim/hosts/memory_system.hpp"
#include "sim/jacobi/grid.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

namespace {

constexpr double read_share = 16 / jacobi::bytes;  // the rest is written

std::vector<int> cpus_of(Machine const& machine, JacobiLoop const& what) {
  std::vector<int> cpus;
  auto const packages = machine.shape.groups(level::package);
  for (int s = 0; s < what.sockets; ++s) {
    auto const& package = packages[static_cast<std::size_t>(s)];
    auto const last = std::min(static_cast<std::size_t>(what.threads), package.size());
    cpus.insert(cpus.end(), package.begin(), package.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return cpus;
}

class LoopSweep {
 public:
  LoopSweep(Machine const& machine, JacobiLoop const& what, std::uint64_t seed, LostStep lost)
      : machine_(machine),
        map_(machine.core_map()),
        simulation_(lost),
        memory_(machine, map_, simulation_.network),
        team_(machine.shape, cpus_of(machine, what)),
        layer_gb_(jacobi::all_updates * jacobi::bytes * 1e-9 / what.layers),
        loop_(what.schedule, 1, static_cast<std::size_t>(what.layers), team_),
        homes_(static_cast<std::size_t>(what.layers), 0),
        random_(seed) {
    if (what.pages == LoopPages::own)
      homes_ = jacobi::first_touched(
          what.schedule == schedule_kind::dynamic ? schedule_kind::static_chunks : what.schedule,
          what.layers, team_, machine.shape);
  }

  double seconds_of_all() {
    for (int t = 0; t < team_.size(); ++t)
      simulation_.events.post(random_.below(apart_ns), static_cast<Actor>(t), 0);
    run_to_end(
        simulation_, *this, [this] { return loop_.is_through(); },
        [this] { return loop_.states(); });
    return seconds(simulation_.now()) + machine_.barrier_ns.value * 1e-9 * team_.size();
  }

  void happen(Event const& event) { go_on(static_cast<int>(event.actor)); }
  void ended(FlowId flow) {
    int const thread = thread_of_.at(flow);
    thread_of_.erase(flow);
    go_on(thread);
  }

 private:
  void go_on(int thread) {
    auto const layer = loop_.next(thread, random_);
    if (!layer) return;
    double const more =
        1 + jacobi::jitter / std::sqrt(jacobi::columns) * (2 * random_.uniform() - 1);
    double const gb = layer_gb_ * more;
    Traffic const traffic{homes_[*layer], gb * read_share, gb * (1 - read_share)};
    thread_of_.emplace(
        memory_.start(simulation_.now(), team_.cpus[static_cast<std::size_t>(thread)], 0,
                      {&traffic, 1}),
        thread);
  }

  Machine const& machine_;
  policy::CoreMap map_;
  Simulation simulation_;
  MemorySystem memory_;
  Team team_;
  double layer_gb_;
  LoopRun loop_;
  std::vector<int> homes_;  // [layer]
  Random random_;
  std::unordered_map<FlowId, int> thread_of_;
};

}  // namespace

int sockets_of(Machine const& machine) {
  return static_cast<int>(machine.shape.groups(level::package).size());
}

double jacobi_loop_mlups(Machine const& machine, JacobiLoop const& what, std::uint64_t seed,
                         LostStep lost) {
  LoopSweep sweep(machine, what, seed, lost);
  return jacobi::all_updates / sweep.seconds_of_all() * 1e-6;
}

}  // namespace nigh::sim
