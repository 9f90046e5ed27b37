// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which piece of a recorded run a worker gets next, and who looks for one: Worker::find_work() of
// the product (runtime/worker.cpp) in virtual time, on the layout that the product makes.
//
//   look    its own stack, newest first; then the sources of policy::search_order(), in its order:
//           own_queue        what is left of its chunk, then one of its group's queue, by
//                            policy::chunk_of_own_queue()
//           stacks           others' stacks, oldest first, by policy::victim() and
//                            policy::chunk_to_steal()
//           sibling_buffers  what is left of the chunks of its group's other workers
//           other_queues     queues and chunks of the groups in reach, by policy::chunk_stolen()
//   sleep   a worker that has found nothing for as long as policy::rest() says sees nothing until
//   it
//           is woken
//
// The other sources hold nothing here: a piece waits for no other one, a trace has no messages of
// loops, and it is of one process.
//
// A worker that is awake looks all the time. It finds something only after something has come, or
// when its list of sources grows: those are the times to call look().

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "policy/stealing/work_search.hpp"
#include "policy/stealing/worker_layout.hpp"
#include "sim/machine.hpp"
#include "sim/random.hpp"
#include "sim/replay/replay.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

class Seekers {
 public:
  struct Found {
    int piece = -1;             // -1: nothing
    bool is_from_afar = false;  // another worker's, or another group's
  };

  // The layout lives longer. It has a queue for each domain that has workers. How far domains are
  // apart, the links say: a model's topology has no firmware that would.
  Seekers(policy::WorkerLayout const& layout, LinkGraph const& links, ReplayPolicy const& what,
          std::uint64_t seed);

  std::vector<int> const& domains() const noexcept { return domains_; }  // that have workers

  void put(int domain, int piece);   // into its queue
  void push(int worker, int piece);  // onto its stack
  Found look(int worker, Time now);  // what it finds it has begun

  void ran_out(int worker, Time now);                    // has ended its piece
  void rests(int worker) { at(worker).is_idle = true; }  // for it has found nothing
  // When its list of sources will have grown, if it finds nothing until then.
  std::vector<Time> farther_looks(int worker, Time now) const;

  bool is_idle(int worker) const { return at(worker).is_idle; }
  bool is_awake(int worker, Time now) const;  // of an idle one
  // Sleepers to be woken: for each group with work and without anybody awake who looks, the
  // nearest. They count as awake from now on.
  std::vector<int> to_wake(Time now);
  void woke(int worker, Time now);

  std::string state(int worker, Time now) const;
  std::uint64_t steals() const noexcept { return steals_; }
  std::uint64_t taken_abroad() const noexcept { return taken_abroad_; }

 private:
  struct Worker {
    int number = 0;
    int group = 0;
    std::deque<int> stack;   // the newest at the end
    std::deque<int> buffer;  // of a chunk of its group's queue, not begun
    bool is_idle = true, is_being_woken = false;
    policy::Waits waits;
    Time ran_out = 0, searches_from = 0;  // before it lingers
  };
  struct Group {
    std::deque<int> queue;
    std::vector<int> workers;
    std::vector<int> others;  // groups, the nearest first: it wakes their workers
    int reach = 0;            // it takes from so many of these
  };

  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  Worker const& at(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  Group& group(int g) { return groups_[static_cast<std::size_t>(g)]; }

  static policy::SearchOrder order_at(Worker const& me, Time now);
  Found look_at(policy::Source source, Worker& me);
  int find_queued_at_home(Worker& me);
  int ask_all_stacks(Worker& me);
  int find_in_buffers(int of_group);
  int find_in_other_groups(int of_group);
  bool has_searcher(Group const& g, Time now) const;
  bool has_queued(Group const& g) const;
  bool has_stacked(Group const& g) const;

  policy::WorkerLayout const& layout_;
  ReplayPolicy const& what_;
  Random random_;
  std::vector<Worker> workers_;
  std::vector<Group> groups_;  // the layout's, or one of all
  std::vector<int> domains_;
  std::uint64_t steals_ = 0, taken_abroad_ = 0;
};

}  // namespace nigh::sim
