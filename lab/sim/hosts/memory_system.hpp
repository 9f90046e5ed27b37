// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine's cores, memory controllers and links as resources, and a thread as a flow over them.
//
// A thread's volume is work: seconds on one core with all memory near. Part of that time waits for
// memory; over h hops this part takes 1 + per_hop x h times as long. So the distances of its own
// data and of the neighbour whose data it reads cap its rate, and what it moves loads the
// controllers there and the links between.

#include <span>
#include <vector>

#include "sim/fluid.hpp"
#include "sim/machine.hpp"

namespace nigh::sim {

struct ThreadPlace {
  int cpu = 0;         // position
  int home = 0;        // domain of the data it works on
  int neighbour = -1;  // domain of the thread it exchanges data with; -1: none
};

struct MemoryNeed {
  double memory = 0;         // as in RegionProfile
  double exchange = 0;       //
  bool interleaved = false;  // its own data lies in all domains in equal parts
};

// The bytes that a piece of work moves between its core and one domain.
struct Traffic {
  int domain = 0;
  double in_gb = 0, out_gb = 0;  // towards the core, and back
};

class MemorySystem {
 public:
  MemorySystem(Machine const& machine, policy::CoreMap const& map, FluidNetwork& network);

  int cpus() const noexcept { return static_cast<int>(domain_of_.size()); }
  int domain_of(int cpu) const noexcept { return domain_of_[static_cast<std::size_t>(cpu)]; }
  int hops(int a, int b) const noexcept { return machine_.links.hops(a, b); }

  FlowId start(Time now, double work_s, ThreadPlace const& place, MemoryNeed const& need);
  // A flow of volume 1: so much computing, and the time its traffic takes besides.
  FlowId start(Time now, int cpu, double busy_s, std::span<Traffic const> traffic);

 private:
  void load(ResourceId resource, double weight);
  void load_way(int from, int to, double gb_per_s);
  void load_l3(int cpu, double gb_per_s);

  Machine const& machine_;
  FluidNetwork& network_;
  std::vector<int> domain_of_;     // [position]
  std::vector<ResourceId> l3_of_;  // [position]; empty: caches are as wide as what is behind them
  ResourceId first_core_ = 0, first_controller_ = 0, first_link_ = 0;
  std::vector<Use> uses_;
};

}  // namespace nigh::sim
