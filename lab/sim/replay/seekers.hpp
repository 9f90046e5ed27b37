// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which piece of a recorded run a worker gets next, and who looks for one: as nigh's scheduler has
// it (runtime/worker.cpp), by its policies.
//
//   look    its own stack, newest first; what is left of its chunk; a chunk of its home's queue, by
//           policy::chunk_of_own_queue(); others' stacks, oldest first, by policy::victim() and
//           policy::chunk_to_steal(); when it has lingered, its siblings' chunks; when
//           policy::looks_abroad(), other homes' queues and chunks, by policy::victim_order() and
//           policy::chunk_stolen()
//   sleep   who has found nothing for so long that policy::rest() says so sees nothing until woken
//
// A worker awake looks all the time. That finds something only after something has come, or when it
// begins to look farther: those are the times to call look().

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "policy/cpus/core_map.hpp"
#include "policy/stealing/idle.hpp"
#include "policy/stealing/steal_order.hpp"
#include "sim/machine.hpp"
#include "sim/random.hpp"
#include "sim/replay/replay.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

class Seekers {
 public:
  struct Found {
    int piece = -1;             // -1: nothing
    bool is_from_afar = false;  // another worker's, or another home's
  };

  // domain_of[w], cpu_of[w]: where worker w sits.
  Seekers(Machine const& machine, ReplayPolicy const& what, std::vector<int> const& domain_of,
          std::vector<int> const& cpu_of, std::uint64_t seed);

  std::vector<int> const& domains() const noexcept { return domains_; }  // that have workers

  void put(int domain, int piece);   // into its queue
  void push(int worker, int piece);  // onto its stack
  Found look(int worker, Time now);  // what it finds it has begun

  void ran_out(int worker, Time now);  // has ended its piece
  // When it looks farther, if it finds nothing until then: at siblings' chunks, then abroad.
  Time reaches_siblings(int worker) const;
  Time reaches_abroad(int worker) const;
  void rests(int worker) { at(worker).is_idle = true; }  // for it has found nothing

  bool is_idle(int worker) const { return at(worker).is_idle; }
  bool is_awake(int worker, Time now) const;  // of an idle one
  // Sleepers to be woken: for each home with work and without anybody awake who looks, the nearest.
  // They count as awake from now on.
  std::vector<int> to_wake(Time now);
  void woke(int worker, Time now);

  std::string state(int worker, Time now) const;
  std::uint64_t steals() const noexcept { return steals_; }
  std::uint64_t taken_abroad() const noexcept { return taken_abroad_; }

 private:
  struct Worker {
    int home = 0;
    policy::VictimPlan plan;
    std::deque<int> stack;  // the newest at the end
    std::deque<int> ring;   // of a chunk from home, not begun
    bool is_idle = true, is_being_woken = false, woken_in_vain = false;
    Time searches_from = 0;  // before it lingers
  };
  struct Home {
    std::deque<int> queue;
    std::vector<int> workers, order;  // of other homes, the nearest first
  };

  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  Worker const& at(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  Home& home(int h) { return homes_[static_cast<std::size_t>(h)]; }
  int find_at_home(Worker& me);
  int steal(Worker& me);
  int find_in_rings(int h);
  int find_abroad(Worker const& me);
  bool has_searcher(Home const& h, Time now) const;
  bool has_queued(Home const& h) const;
  bool has_stacked(Home const& h) const;

  ReplayPolicy const& what_;
  Random random_;
  std::vector<Worker> workers_;
  std::vector<Home> homes_;  // [domain], or one of all
  std::vector<int> domains_;
  std::uint64_t steals_ = 0, taken_abroad_ = 0;
};

}  // namespace nigh::sim
