// SPDX-License-Identifier: Apache-2.0
#include "sim/replay/replay.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "sim/hosts/memory_system.hpp"
#include "sim/replay/seekers.hpp"
#include "sim/simulation.hpp"
#include "sim/team.hpp"

namespace nigh::sim {

namespace {

// Of a piece where nothing else runs: a core's part, and bytes.
struct Need {
  double core_s = 0, bytes = 0;
};

// A piece that moved fewer bytes than its part of the controller, while all were at work, had its
// core to thank for its time, less the time that a lone thread takes to move them. A piece that
// moved as much says nothing of its core: that part is taken to be none; and it cannot have moved
// more.
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

// Its workers as a runtime lays them out by itself: one for each core, the nearest ones first, and
// a queue for each domain.
Team team_of(ReplaySetting const& setting, Queues queues) {
  auto const& machine = setting.machine;
  auto cpus = machine.shape.order(cpu_order::compact, level::domain);
  int const wanted = setting.workers > 0 ? setting.workers : machine.shape.cores();
  cpus.resize(std::min(static_cast<std::size_t>(wanted), cpus.size()));
  return {machine.shape, cpus, {.queue_level = level::domain, .strict = queues == Queues::strict}};
}

class Replay {
 public:
  Replay(RecordedRun const& run, ReplaySetting const& setting, ReplayPolicy const& what,
         std::uint64_t seed)
      : run_(run),
        machine_(setting.machine),
        map_(machine_.core_map()),
        simulation_(setting.lost),
        memory_(machine_, map_, simulation_.network),
        needs_(needs_of(run, setting.recorded)),
        team_(team_of(setting, what.queues)),
        workers_(static_cast<std::size_t>(team_.size())),
        seekers_(team_.layout, setting.machine.links, what, seed) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].cpu = team_.cpus[w];
      workers_[w].domain = memory_.domain_of(team_.cpus[w]);
    }
    prepare();
  }

  ReplayOutcome outcome() {
    for (phase_ = 0; phase_ < static_cast<int>(phases_.size()); ++phase_) {
      if (phase_ > 0) pause(run_.pauses[static_cast<std::size_t>(phase_) - 1]);
      begin_phase();
      run_until([&] { return left_ == 0; });
    }
    auto const n = static_cast<double>(workers_.size());
    outcome_.seconds = seconds(simulation_.now());
    outcome_.idle_share = 1 - busy_s_ / (n * outcome_.seconds);
    outcome_.remote_share = bytes_ > 0 ? remote_bytes_ / bytes_ : 0;
    outcome_.steals = seekers_.steals();
    outcome_.taken_abroad = seekers_.taken_abroad();
    return outcome_;
  }

  // An actor is a worker. Looks that were due in an idleness that has ended find it busy, or come
  // early.
  void happen(Event const& e) {
    auto const worker = static_cast<int>(e.actor);
    switch (e.what) {
      case begins:
        return begin_piece(worker);
      case woken:
        seekers_.woke(worker, now());
        if (!seek(worker)) look_farther_later(worker);
        break;
      case looks:
        if (seekers_.is_idle(worker) && seekers_.is_awake(worker, now())) seek(worker);
        break;
      default:
        paused_ = false;
        return;
    }
    wake(machine_.message_ns.value);
  }
  void ended(FlowId flow) {
    auto const found = worker_of_.find(flow);
    auto const worker = static_cast<int>(found->second);
    worker_of_.erase(found);
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    auto const done = static_cast<std::size_t>(w.piece);
    --left_;
    busy_s_ += seconds(now() - w.since);
    w.piece = -1;
    // The one that came first is popped first.
    auto const& children = children_[done];
    for (auto c = children.rbegin(); c != children.rend(); ++c) seekers_.push(worker, *c);
    seekers_.ran_out(worker, now());
    if (!seek(worker)) {
      seekers_.rests(worker);
      look_farther_later(worker);
    }
    // Of all else that is in sight others would have known.
    if (children.size() > 1) return tell(machine_.message_ns.value);
    wake(machine_.message_ns.value);
  }

 private:
  enum What : std::uint32_t { waits, begins, looks, woken };

  struct Worker {
    int cpu = 0, domain = 0;
    int piece = -1;
    Time since = 0;
  };

  Time now() const noexcept { return simulation_.now(); }

  void prepare() {
    auto const n = run_.pieces.size();
    children_.resize(n);
    home_.assign(n, -1);
    for (std::size_t i = 0; i < n; ++i) {
      Piece const& p = run_.pieces[i];
      if (static_cast<std::size_t>(p.phase) >= phases_.size())
        phases_.resize(static_cast<std::size_t>(p.phase) + 1);
      Phase& phase = phases_[static_cast<std::size_t>(p.phase)];
      ++phase.pieces;
      if (p.parent >= 0 && run_.pieces[static_cast<std::size_t>(p.parent)].phase == p.phase)
        children_[static_cast<std::size_t>(p.parent)].push_back(static_cast<int>(i));
      else
        phase.roots.push_back(static_cast<int>(i));
    }
    auto const& homes = seekers_.domains();
    for (Phase const& phase : phases_) {
      std::vector<int> placed;
      for (int i : phase.roots)
        if (run_.pieces[static_cast<std::size_t>(i)].near >= 0) placed.push_back(i);
      for (std::size_t k = 0; k < placed.size(); ++k)
        home_[static_cast<std::size_t>(placed[k])] = homes[k * homes.size() / placed.size()];
    }
  }

  template <class Done>
  void run_until(Done done) {
    run_to_end(simulation_, *this, done, [this] { return states(); });
  }

  // Nothing is to be done for so long.
  void pause(double s) {
    paused_ = true;
    simulation_.events.post(now() + nanoseconds(s), 0, waits);
    run_until([&] { return !paused_; });
  }

  // The time until its first piece began, and so until somebody was awake, has passed.
  void begin_phase() {
    auto const& homes = seekers_.domains();
    Phase const& phase = phases_[static_cast<std::size_t>(phase_)];
    left_ = phase.pieces;
    std::size_t turn = 0;
    for (int i : phase.roots) {
      int const home = home_[static_cast<std::size_t>(i)];
      // Tasks that are near nowhere are dealt in turn.
      seekers_.put(home >= 0 ? home : homes[turn++ % homes.size()], i);
    }
    tell(0);
  }

  // There may be something for those without work.
  void tell(double wake_ns) {
    for (int w = 0; w < static_cast<int>(workers_.size()); ++w)
      if (seekers_.is_idle(w) && seekers_.is_awake(w, now())) seek(w);
    wake(wake_ns);
  }
  void wake(double ns) {
    for (int w : seekers_.to_wake(now()))
      simulation_.events.post(now() + nanoseconds(ns * 1e-9), static_cast<Actor>(w), woken);
  }
  void look_farther_later(int worker) {
    for (Time const at : seekers_.farther_looks(worker, now()))
      simulation_.events.post(at, static_cast<Actor>(worker), looks);
  }

  bool seek(int worker) {
    auto const found = seekers_.look(worker, now());
    if (found.piece < 0) return false;
    workers_[static_cast<std::size_t>(worker)].piece = found.piece;
    double const ns = found.is_from_afar ? machine_.barrier_ns.value : 0;
    simulation_.events.post(now() + nanoseconds(ns * 1e-9), static_cast<Actor>(worker), begins);
    return true;
  }

  void begin_piece(int worker) {
    Worker& w = workers_[static_cast<std::size_t>(worker)];
    auto const& need = needs_[static_cast<std::size_t>(w.piece)];
    int const home = home_[static_cast<std::size_t>(w.piece)];
    int const from = home >= 0 ? home : w.domain;
    double const memory_s = need.bytes / (machine_.thread_gb_per_s.value * 1e9);
    double const work_s = std::max(need.core_s + memory_s, 1e-12);
    bytes_ += need.bytes;
    remote_bytes_ += from != w.domain ? need.bytes : 0;
    w.since = now();
    auto const flow =
        memory_.start(now(), work_s, {w.cpu, from, -1}, {memory_s / work_s, 0, false});
    worker_of_.emplace(flow, static_cast<std::size_t>(worker));
  }

  std::string states() const {
    std::string text =
        std::to_string(left_) + " pieces of phase " + std::to_string(phase_) + " have not ended";
    for (int w = 0; w < static_cast<int>(workers_.size()); ++w)
      text += "\n  worker " + std::to_string(w) + ": " + seekers_.state(w, now());
    return text;
  }

  struct Phase {
    std::vector<int> roots;
    std::size_t pieces = 0;
  };

  RecordedRun const& run_;
  Machine const& machine_;
  policy::CoreMap map_;
  Simulation simulation_;
  MemorySystem memory_;
  std::vector<Need> needs_;  // [piece]
  Team team_;
  std::vector<Worker> workers_;
  Seekers seekers_;
  std::vector<std::vector<int>> children_;  // [piece]
  std::vector<Phase> phases_;
  std::vector<int> home_;  // [piece]: domain; -1: nowhere
  std::unordered_map<FlowId, std::size_t> worker_of_;
  int phase_ = 0;
  std::size_t left_ = 0;  // pieces of this phase
  bool paused_ = false;
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
