// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where programs get cpus for their parallel regions from: the operating system, or the
// coordinator.

#include <vector>

#include "policy/cpus/thread_count.hpp"
#include "sim/event_queue.hpp"

namespace nigh::sim {

// Programs are numbered; cpus are positions.
class TeamReceiver {
 public:
  virtual ~TeamReceiver() = default;
  // The region may begin; the master's cpu comes first.
  virtual void begin_region(int program, std::vector<int> team) = 0;
};

class TeamSource {
 public:
  virtual ~TeamSource() = default;

  // Where the master begins, and runs what is serial.
  virtual int begin_program(int program) = 0;
  virtual void end_program(int program) = 0;

  // Answered by begin_region(), at once or later.
  virtual void enter(int program, int region, policy::ThreadDemand demand, int place) = 0;
  virtual void leave(int program, int region, int threads, Time duration) = 0;

  // A thread begins or ends to run on a cpu.
  virtual void runs(int /*cpu*/) {}
  virtual void ends(int /*cpu*/) {}

  virtual void happen(Event const& event) = 0;
};

}  // namespace nigh::sim
