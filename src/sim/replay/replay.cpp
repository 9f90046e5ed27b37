// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/replay.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <unordered_map>

#include "base/assert.hpp"
#include "policy/victim_order.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

namespace {

// Of a piece where nothing else runs: a core's part, and bytes.
struct Need {
  double core_s = 0, bytes = 0;
};

// A piece that moved fewer bytes than its part of the controller, while all were at work, had its
// core to thank for its time but for what a lone thread takes to move them. One that moved as much
// says nothing of its core: that part is taken to be none; and it cannot have moved more.
std::vector<Need> needs_of(RecordedRun const& run, Machine const& machine) {
  constexpr double nearly = 0.9;
  double const alone = 1e9 * machine.thread_gb_per_s.value;
  double const of_each =
      std::min(alone, 1e9 * machine.controller_gb_per_s.value * machine.shape.cpu_domains() /
                          std::max(1, run.workers));
  std::vector<Need> needs;
  for (Piece const& p : run.pieces)
    needs.push_back(p.bytes < nearly * of_each * p.seconds
                        ? Need{p.seconds - p.bytes / alone, p.bytes}
                        : Need{0, std::min(p.bytes, of_each * p.seconds)});
  return needs;
}

class Replay {
 public:
  Replay(RecordedRun const& run, ReplaySetting const& setting, ReplayPolicy const& what,
         std::uint64_t seed)
      : run_(run),
        machine_(setting.machine),
        what_(what),
        map_(machine_.core_map()),
        memory_(machine_, map_, simulation_.network),
        needs_(needs_of(run, setting.recorded)),
        random_(seed) {
    int const domains = machine_.links.domains();
    auto const cpus = machine_.shape.order(cpu_order::compact, level::domain);
    int const most = static_cast<int>(cpus.size());
    int const wanted = setting.workers > 0 ? setting.workers : machine_.shape.cores();
    workers_.resize(static_cast<std::size_t>(std::min(wanted, most)));
    std::vector<int> cpu_of;
    for (std::size_t w = 0; w < workers_.size(); ++w) cpu_of.push_back(cpus[w]);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].cpu = map_.position(cpu_of[w]);
      workers_[w].domain = memory_.domain_of(workers_[w].cpu);
      workers_[w].plan = policy::victim_plan(static_cast<int>(w), cpu_of, machine_.shape);
    }
    for (int d = 0; d < domains; ++d) {
      std::vector<double> hops;
      for (int to = 0; to < domains; ++to) hops.push_back(machine_.links.hops(d, to));
      orders_.push_back(policy::victim_order(d, hops));
    }
    queues_.resize(static_cast<std::size_t>(domains));
    for (Worker const& w : workers_)
      if (std::find(homes_.begin(), homes_.end(), w.domain) == homes_.end())
        homes_.push_back(w.domain);
    prepare();
  }

  ReplayOutcome outcome() {
    for (phase_ = 0; phase_ < static_cast<int>(phases_.size()); ++phase_) {
      if (phase_ > 0) pause(run_.pauses[static_cast<std::size_t>(phase_) - 1]);
      begin_phase();
      while (simulation_.step(*this)) {
      }
    }
    NIGH_ASSERT(done_ == run_.pieces.size(),
                "each piece has been done, for each queue has workers");
    auto const n = static_cast<double>(workers_.size());
    outcome_.seconds = seconds(simulation_.now());
    outcome_.idle_share = 1 - busy_s_ / (n * outcome_.seconds);
    outcome_.remote_share = bytes_ > 0 ? remote_bytes_ / bytes_ : 0;
    return outcome_;
  }

  // An actor is a worker: it has got hold of its piece.
  void happen(Event const& e) {
    if (e.what == begins) begin_piece(workers_[e.actor]);
  }
  void ended(FlowId flow) {
    auto const found = worker_of_.find(flow);
    Worker& w = workers_[found->second];
    worker_of_.erase(found);
    auto const done = static_cast<std::size_t>(w.piece);
    ++done_;
    busy_s_ += seconds(simulation_.now() - w.since);
    w.piece = -1;
    // The one that came first is popped first.
    auto const& children = children_[done];
    w.stack.insert(w.stack.end(), children.rbegin(), children.rend());
    seek(w);
    if (children.size() > 1) wake();
  }

 private:
  enum What : std::uint32_t { waits, begins };

  struct Worker {
    int cpu = 0, domain = 0;
    policy::VictimPlan plan;
    std::deque<int> stack;  // pieces, the newest at the end
    int piece = -1;
    bool idle = false;
    Time since = 0;
  };

  std::size_t index(Worker const& w) const noexcept {
    return static_cast<std::size_t>(&w - workers_.data());
  }

  void prepare() {
    auto const n = run_.pieces.size();
    children_.resize(n);
    home_.assign(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      Piece const& p = run_.pieces[i];
      if (static_cast<std::size_t>(p.phase) >= phases_.size())
        phases_.resize(static_cast<std::size_t>(p.phase) + 1);
      if (p.parent >= 0 && run_.pieces[static_cast<std::size_t>(p.parent)].phase == p.phase)
        children_[static_cast<std::size_t>(p.parent)].push_back(static_cast<int>(i));
      else
        phases_[static_cast<std::size_t>(p.phase)].push_back(static_cast<int>(i));
    }
    for (auto const& roots : phases_) {
      std::vector<int> placed;
      for (int i : roots)
        if (run_.pieces[static_cast<std::size_t>(i)].near >= 0) placed.push_back(i);
      for (std::size_t k = 0; k < placed.size(); ++k)
        home_[static_cast<std::size_t>(placed[k])] = homes_[k * homes_.size() / placed.size()];
    }
  }

  // Nothing is to be done for so long.
  void pause(double s) {
    simulation_.events.post(simulation_.now() + nanoseconds(s), 0, waits);
    simulation_.step(*this);
  }

  void begin_phase() {
    std::size_t turn = 0;
    for (int i : phases_[static_cast<std::size_t>(phase_)]) {
      int const home = home_[static_cast<std::size_t>(i)];
      bool const is_one = what_.queues == Queues::one;
      // What is near nowhere is dealt in turn.
      auto const q = is_one      ? 0
                     : home >= 0 ? static_cast<std::size_t>(home)
                                 : static_cast<std::size_t>(homes_[turn++ % homes_.size()]);
      queues_[q].push_back(i);
    }
    for (Worker& w : workers_) w.idle = true;
    wake();
  }

  void wake() {
    for (Worker& w : workers_)
      if (w.idle) {
        w.idle = false;
        seek(w);
      }
  }

  static int first(std::deque<int>& queue) {
    int const i = queue.front();
    queue.pop_front();
    return i;
  }

  void seek(Worker& w) {
    if (!w.stack.empty()) {
      int const i = w.stack.back();
      w.stack.pop_back();
      return take(w, i, 0);
    }
    bool const is_one = what_.queues == Queues::one;
    auto& own = queues_[is_one ? 0 : static_cast<std::size_t>(w.domain)];
    if (!own.empty()) return take(w, first(own), 0);
    if (int const i = steal(w); i >= 0) return take(w, i, machine_.barrier_ns.value);
    if (what_.queues == Queues::near)
      for (int other : orders_[static_cast<std::size_t>(w.domain)])
        if (auto& queue = queues_[static_cast<std::size_t>(other)]; !queue.empty()) {
          ++outcome_.taken_abroad;
          return take(w, first(queue), machine_.barrier_ns.value);
        }
    w.idle = true;
  }

  int steal(Worker& thief) {
    auto const bits = static_cast<std::uint32_t>(random_.uniform() * 0x1p32);
    for (int attempt = 0; attempt < thief.plan.attempts_per_round; ++attempt) {
      auto const v = policy::victim(thief.plan, what_.victims, attempt, bits);
      if (v.worker < 0) return -1;
      auto& stack = workers_[static_cast<std::size_t>(v.worker)].stack;
      if (stack.empty()) continue;
      ++outcome_.steals;
      return first(stack);
    }
    return -1;
  }

  void take(Worker& w, int piece, double ns) {
    w.piece = piece;
    simulation_.events.post(simulation_.now() + nanoseconds(ns * 1e-9),
                            static_cast<Actor>(index(w)), begins);
  }

  void begin_piece(Worker& w) {
    auto const& need = needs_[static_cast<std::size_t>(w.piece)];
    int const home = home_[static_cast<std::size_t>(w.piece)];
    int const from = home >= 0 ? home : w.domain;
    double const memory_s = need.bytes / (machine_.thread_gb_per_s.value * 1e9);
    double const work_s = std::max(need.core_s + memory_s, 1e-12);
    bytes_ += need.bytes;
    remote_bytes_ += from != w.domain ? need.bytes : 0;
    w.since = simulation_.now();
    auto const flow =
        memory_.start(simulation_.now(), work_s, {w.cpu, from, -1}, {memory_s / work_s, 0, false});
    worker_of_.emplace(flow, index(w));
  }

  RecordedRun const& run_;
  Machine const& machine_;
  ReplayPolicy const& what_;
  policy::CoreMap map_;
  Simulation simulation_;
  MemorySystem memory_;
  std::vector<Need> needs_;  // [piece]
  Random random_;
  std::vector<Worker> workers_;
  std::vector<std::vector<int>> orders_;    // [domain]
  std::vector<std::deque<int>> queues_;     // [domain]
  std::vector<std::vector<int>> children_;  // [piece]
  std::vector<std::vector<int>> phases_;    // roots
  std::vector<int> home_;                   // [piece]; -1: nowhere
  std::unordered_map<FlowId, std::size_t> worker_of_;
  std::vector<int> homes_;  // domains that have workers
  int phase_ = 0;
  std::size_t done_ = 0;
  double busy_s_ = 0, bytes_ = 0, remote_bytes_ = 0;
  ReplayOutcome outcome_;
};

}  // namespace

std::vector<ReplayPolicy> const& replay_policies() {
  using policy::VictimChoice;
  static std::vector<ReplayPolicy> const all{
      {"near", Queues::near, VictimChoice::hierarchical},
      {"near-random", Queues::near, VictimChoice::random},
      {"strict", Queues::strict, VictimChoice::hierarchical},
      {"one-queue", Queues::one, VictimChoice::hierarchical},
  };
  return all;
}

ReplayOutcome replay(RecordedRun const& run, ReplaySetting const& setting,
                     ReplayPolicy const& policy, std::uint64_t seed) {
  return Replay(run, setting, policy, seed).outcome();
}

}  // namespace nigh::sim
