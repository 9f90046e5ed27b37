// SPDX-License-Identifier: Apache-2.0
#include "sim/mg/multigrid.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/assert.hpp"
#include "policy/cpus/thread_order.hpp"
#include "policy/loops/placement.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/loops/loop_run.hpp"
#include "sim/mg/planes.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

namespace {

using mg::Planes;

// Measured: class B serially in 5.6 s on a Cascade Lake core that moves 9.9 GB/s, 4.4 s of which
// are MG's 44 GB; the rest by 24 G operations.
constexpr double operation_s = 0.05e-9;
// Assumed: a page of 4 KiB touched first by one of many threads that all do so, and so meet at the
// kernel's locks for their process.
constexpr double fault_s = 4e-6, page_bytes = 4096;
constexpr double plane_jitter = 0.005;  // of a plane's work, as in the Jacobi sweep; assumed
constexpr int timed_iterations = 2;

std::vector<int> page_turns(Machine const& machine, MgPages pages) {
  if (pages == MgPages::first_touch) return {};
  auto turns = policy::placement_domains(placement::interleave(), machine.shape);
  if (pages == MgPages::everywhere)
    for (auto const& d : machine.shape.domains())
      if (d.memory_bytes > 0 && std::find(turns.begin(), turns.end(), d.index) == turns.end())
        turns.push_back(d.index);
  return turns;
}

std::vector<int> chosen_cpus(Machine const& machine, MgCase const& what) {
  auto cpus = policy::thread_order(machine.shape, what.order);
  NIGH_ASSERT(what.threads >= 1 && what.threads <= static_cast<int>(cpus.size()),
              "each thread has a cpu");
  cpus.resize(static_cast<std::size_t>(what.threads));
  return cpus;
}

class Multigrid {
 public:
  Multigrid(Machine const& machine, MgCase const& what, std::uint64_t seed, LostStep lost)
      : machine_(machine),
        what_(what),
        map_(machine.core_map()),
        simulation_(lost),
        memory_(machine, map_, simulation_.network),
        team_(machine.shape, chosen_cpus(machine, what)),
        planes_(machine, map_, team_.cpus, what.finest, page_turns(machine, what.pages)),
        random_(seed),
        work_(team_.cpus.size()),
        gone_through_(static_cast<std::size_t>(planes_.caches()), 0),
        team_at_(static_cast<std::size_t>(planes_.caches())),
        load_gb_(machine.shape.domains().size(), 0) {
    if (!what.caches) planes_.hold_nothing();
    for (int t = 0; t < team_.size(); ++t)
      team_at_[static_cast<std::size_t>(planes_.cache(cpu(t)))].push_back(t);
  }

  MgOutcome outcome() {
    touch_in_first_thread();
    if (what_.first_thread == FirstThread::nothing)
      run({mg::Operator::zero, what_.finest, mg::Array::u, true});
    for (auto const& loop : mg::start(what_.finest)) run(loop);

    std::fill(load_gb_.begin(), load_gb_.end(), 0);
    planes_.forget_counts();
    Time const begin = simulation_.now();
    for (int i = 0; i < timed_iterations; ++i)
      for (auto const& loop : mg::iteration(what_.finest)) run(loop);

    MgOutcome all;
    all.iteration_s = seconds(simulation_.now() - begin) / timed_iterations;
    for (double gb : load_gb_) all.gb += gb / timed_iterations;
    for (double gb : load_gb_) all.load.push_back(gb / timed_iterations / all.gb);
    all.resident = planes_.shares();
    all.missed = planes_.missed_bytes() / planes_.asked_bytes();
    return all;
  }

  // An actor is a thread that has come to the loop.
  void happen(Event const& event) { go_on(static_cast<int>(event.actor)); }
  void ended(FlowId flow) {
    auto const found = thread_of_.find(flow);
    int const thread = found->second;
    thread_of_.erase(found);
    auto& work = work_[static_cast<std::size_t>(thread)];
    gone_through_[static_cast<std::size_t>(planes_.cache(cpu(thread)))] += work.bytes;
    work = {};
    go_on(thread);
  }

 private:
  struct Work {
    FlowId flow = 0;   // 0: none
    double bytes = 0;  // that it goes through
  };

  void touch_in_first_thread() {
    if (what_.first_thread == FirstThread::nothing) return;
    bool const all = what_.first_thread == FirstThread::all;
    int const here = memory_.domain_of(cpu(0));
    for (int level = all ? 0 : what_.finest; level <= what_.finest; ++level)
      for (int p = 0; p < mg::side(level) + 2; ++p) {
        planes_.touch(mg::Array::u, level, p, here);
        if (!all) continue;
        planes_.touch(mg::Array::v, level, p, here);
        planes_.touch(mg::Array::r, level, p, here);
      }
  }

  int cpu(int thread) const noexcept { return team_.cpus[static_cast<std::size_t>(thread)]; }

  LoopRun begun(mg::Loop const& loop) const {
    auto const n = static_cast<std::size_t>(mg::steps(loop));
    if (what_.framework == Framework::cilk)  // cilk_for's own grain: an eighth of a fair share
      return LoopRun::split_by_thieves(std::min<std::size_t>(2048, n / (8 * team_.cpus.size())), n,
                                       team_);
    auto const kind = !what_.dynamic                         ? schedule_kind::static_blocks
                      : what_.framework == Framework::openmp ? schedule_kind::dynamic
                                                             : schedule_kind::adaptive;
    return {kind, 1, n, team_};
  }

  // Begins when all have ended the loop before.
  void run(mg::Loop const& loop) {
    loop_ = &loop;
    planes_.next_loop();
    taken_.emplace(begun(loop));
    auto const barrier = static_cast<Time>(machine_.barrier_ns.value) * team_.size();
    for (int t = 0; t < team_.size(); ++t)
      simulation_.events.post(simulation_.now() + barrier + random_.below(apart_ns),
                              static_cast<Actor>(t), 0);
    run_to_end(
        simulation_, *this, [this] { return taken_->is_through(); },
        [this] { return taken_->states(); });
  }

  void go_on(int thread) {
    auto const step = taken_->next(thread, random_);
    if (!step) return;
    int const here = cpu(thread), home = memory_.domain_of(here);
    double const points = Planes::bytes(loop_->level) / 8;
    double const more = 1 + plane_jitter * (2 * random_.uniform() - 1);
    double busy_s = points * mg::operations(loop_->what) * operation_s;

    mg::plane_uses(*loop_, static_cast<int>(*step), uses_);
    auto& work = work_[static_cast<std::size_t>(thread)];
    planes_.gone_through(here, gone_through_by_now(planes_.cache(here)));
    traffic_.assign(load_gb_.size(), {});
    for (std::size_t d = 0; d < traffic_.size(); ++d) traffic_[d].domain = static_cast<int>(d);
    for (auto const& use : uses_) {
      // Ghost planes are refreshed from the other side, not by loops of their own.
      if (!planes_.is_touched(use.array, use.level, use.plane)) {
        planes_.touch(use.array, use.level, use.plane, home);
        busy_s += Planes::bytes(use.level) / page_bytes * fault_s *
                  (home == memory_.domain_of(cpu(0)) ? 1 : what_.far_touch);
      }
      work.bytes += planes_.move(use, here, traffic_);
    }
    for (auto& t : traffic_) {
      load_gb_[static_cast<std::size_t>(t.domain)] += t.in_gb + t.out_gb;
      t.in_gb *= more;
      t.out_gb *= more;
    }
    std::erase_if(traffic_, [](Traffic const& t) { return t.in_gb + t.out_gb <= 0; });
    work.flow = memory_.start(simulation_.now(), here, busy_s * more + 1e-9, traffic_);
    thread_of_.emplace(work.flow, thread);
  }

  // By those who share a cache: flows that have ended, and what others have done by now.
  double gone_through_by_now(int cache) {
    double bytes = gone_through_[static_cast<std::size_t>(cache)];
    for (int const t : team_at_[static_cast<std::size_t>(cache)])
      if (auto const& w = work_[static_cast<std::size_t>(t)]; w.flow != 0)
        bytes += w.bytes * (1 - simulation_.network.left(simulation_.now(), w.flow));
    return bytes;
  }

  Machine const& machine_;
  MgCase what_;
  policy::CoreMap map_;
  Simulation simulation_;
  MemorySystem memory_;
  Team team_;
  Planes planes_;
  Random random_;
  mg::Loop const* loop_ = nullptr;
  std::optional<LoopRun> taken_;
  std::vector<Work> work_;                 // [thread]
  std::vector<double> gone_through_;       // [cache]: bytes, by flows that have ended
  std::vector<std::vector<int>> team_at_;  // [cache]: threads
  std::vector<double> load_gb_;            // [domain]
  std::vector<mg::PlaneUse> uses_;
  std::vector<Traffic> traffic_;
  std::unordered_map<FlowId, int> thread_of_;
};

}  // namespace

MgOutcome run_mg(Machine const& machine, MgCase const& what, std::uint64_t seed, LostStep lost) {
  return Multigrid(machine, what, seed, lost).outcome();
}

}  // namespace nigh::sim
