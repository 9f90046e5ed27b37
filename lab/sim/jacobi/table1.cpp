// SPDX-License-Identifier: Apache-2.0
#include "sim/jacobi/table1.hpp"

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <vector>

#include "policy/stealing/steal_order.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/jacobi/grid.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

namespace {

using jacobi::columns;

constexpr Time submit_ns = 500, task_ns = 2000;  // fitted: hardly felt

class Sweep {
 public:
  Sweep(Machine const& machine, Jacobi2009Tasks const& what, std::uint64_t seed, LostStep lost)
      : what_(what),
        map_(machine.core_map()),
        simulation_(lost),
        memory_(machine, map_, simulation_.network),
        block_s_(jacobi::all_updates / (what.layers * columns) * jacobi::bytes /
                 (machine.thread_gb_per_s.value * 1e9)),
        random_(seed),
        domains_(machine.shape.cpu_domains()),
        threads_(map_.size()),
        idle_(static_cast<std::size_t>(threads_), false),
        queues_(static_cast<std::size_t>(domains_)),
        block_of_(static_cast<std::size_t>(threads_), -1) {
    std::vector<double> const equally_far(static_cast<std::size_t>(domains_), 1);
    for (int d = 0; d < domains_; ++d) orders_.push_back(policy::victim_order(d, equally_far));
    std::vector<int> cpus;
    for (int t = 0; t < threads_; ++t) cpus.push_back(map_.cpu(cpu_of(t)));
    home_of_layer_ = jacobi::first_touched(
        what.round_robin ? schedule_kind::static_chunks : schedule_kind::static_blocks, what.layers,
        Team(machine.shape, cpus), machine.shape);
  }

  double seconds_of_all() {
    for (int t = 1; t < threads_; ++t) idle_[static_cast<std::size_t>(t)] = true;
    simulation_.events.post(0, 0, 0);
    run_to_end(
        simulation_, *this, [this] { return ended_ == what_.layers * columns; },
        [this] { return states(); });
    return seconds(simulation_.now());
  }

  // An actor is a thread: it has submitted a task, or got ready for one.
  void happen(Event const& event) {
    if (event.what == running) return start(static_cast<int>(event.actor));
    if (event.what == submitted) put(submitted_++);
    if (event.actor == 0 && submitted_ < what_.layers * columns) return submit();
    seek(static_cast<int>(event.actor));
  }
  void ended(FlowId flow) {
    auto const thread = thread_of_.at(flow);
    thread_of_.erase(flow);
    ++ended_;
    block_of_[static_cast<std::size_t>(thread)] = -1;
    if (thread == 0 && submitted_ < what_.layers * columns) return submit();
    seek(thread);
  }

 private:
  static constexpr std::uint32_t submitted = 1, running = 2;

  int cpu_of(int thread) const {
    return what_.scatter ? thread % domains_ * (threads_ / domains_) + thread / domains_ : thread;
  }
  int domain_of(int thread) const { return memory_.domain_of(cpu_of(thread)); }

  int home_of(int block) const {
    int const layer = what_.j_outermost ? block % what_.layers : block / columns;
    return home_of_layer_[static_cast<std::size_t>(layer)];
  }

  void submit() {
    if (waiting_ >= static_cast<std::size_t>(what_.most_waiting)) {
      // With queues the new block waits, and any block is run for it; without, it is run itself.
      if (what_.queues) {
        enqueue(submitted_++);
        return run(0, dequeue(0));
      }
      if (what_.oldest_first) {
        int const oldest = tasks_.front();
        tasks_.pop_front();
        tasks_.push_back(submitted_++);
        return run(0, oldest);
      }
      return run(0, submitted_++);
    }
    simulation_.events.post(simulation_.now() + submit_ns, 0, submitted);
  }

  void enqueue(int block) { queues_[static_cast<std::size_t>(home_of(block))].push_back(block); }
  int dequeue(int thread) {
    auto const take = [&](int domain) {
      auto& queue = queues_[static_cast<std::size_t>(domain)];
      if (queue.empty()) return -1;
      int const block = queue.front();
      queue.pop_front();
      return block;
    };
    int const here = domain_of(thread);
    int block = take(here);
    for (int other : orders_[static_cast<std::size_t>(here)])
      if (block < 0) block = take(other);
    return block;
  }

  void put(int block) {
    if (what_.queues)
      enqueue(block);
    else
      tasks_.push_back(block);
    ++waiting_;
    for (int t = 1; t < threads_; ++t)
      if (idle_[static_cast<std::size_t>(t)]) {
        idle_[static_cast<std::size_t>(t)] = false;
        return seek(t);
      }
  }

  void seek(int thread) {
    if (waiting_ == 0) {
      idle_[static_cast<std::size_t>(thread)] = true;
      return;
    }
    --waiting_;
    if (what_.queues) return run(thread, dequeue(thread));
    bool const newest = thread == 0 && !what_.oldest_first;
    int const block = newest ? tasks_.back() : tasks_.front();
    newest ? tasks_.pop_back() : tasks_.pop_front();
    run(thread, block);
  }

  std::string states() const {
    std::string text = std::to_string(ended_) + " of " + std::to_string(what_.layers * columns) +
                       " blocks have ended, " + std::to_string(submitted_) + " are submitted, " +
                       std::to_string(waiting_) + " wait";
    for (std::size_t t = 0; t < block_of_.size(); ++t)
      text += "\n  thread " + std::to_string(t) + ": " +
              (idle_[t]           ? "idle"
               : block_of_[t] < 0 ? "submitting"
                                  : "at block " + std::to_string(block_of_[t]));
    return text;
  }

  void run(int thread, int block) {
    block_of_[static_cast<std::size_t>(thread)] = block;
    simulation_.events.post(simulation_.now() + task_ns, static_cast<Actor>(thread), running);
  }
  void start(int thread) {
    int const block = block_of_[static_cast<std::size_t>(thread)];
    double const work = block_s_ * (1 + jacobi::jitter * (2 * random_.uniform() - 1));
    auto const flow =
        memory_.start(simulation_.now(), work, {cpu_of(thread), home_of(block), -1}, {1, 0, false});
    thread_of_.emplace(flow, thread);
  }

  Jacobi2009Tasks what_;
  policy::CoreMap map_;
  Simulation simulation_;
  MemorySystem memory_;
  double block_s_;
  Random random_;
  int domains_, threads_;
  int submitted_ = 0, ended_ = 0;
  std::size_t waiting_ = 0;  // tasks, not counting those that run
  std::vector<int> home_of_layer_;
  std::vector<bool> idle_;
  std::deque<int> tasks_;
  std::vector<std::deque<int>> queues_;   // [domain]
  std::vector<std::vector<int>> orders_;  // [domain]
  std::vector<int> block_of_;             // [thread]; -1: none
  std::unordered_map<FlowId, int> thread_of_;
};

}  // namespace

double jacobi_mlups(Machine const& machine, Jacobi2009Tasks const& what, std::uint64_t seed,
                    LostStep lost) {
  Sweep sweep(machine, what, seed, lost);
  return jacobi::all_updates / sweep.seconds_of_all() * 1e-6;
}

}  // namespace nigh::sim
