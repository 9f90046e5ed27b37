// SPDX-License-Identifier: Apache-2.0
#include "sim/temporal/temporal.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/tiles/tile_size.hpp"
#include "policy/tiles/time_tiles.hpp"
#include "sim/loops/loop_run.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"
#include "sim/temporal/task_queues.hpp"
#include "sim/temporal/tile_work.hpp"
#include "topology/cache_share.hpp"

namespace nigh::sim {

namespace {

// Measured (nigh bench temporal, docs/stencil.md): tiles of a core whose lines are in its caches
// make 1.8 updates a nanosecond, so a shared cache gives each of its cores 24 bytes in this time;
// assumed: all of them at once. A tile costs its worker 1.4 us besides.
constexpr double update_ns = 0.55, tile_ns = 1400;
constexpr double copy_bytes = 16;      // of an update, at least
constexpr double piece_jitter = 0.01;  // of a piece's work, assumed

// As nigh::runtime has them, if nobody says otherwise.
std::vector<int> workers_of(Machine const& machine) {
  return machine.shape.order(cpu_order::compact, level::domain);
}

policy::TileNeed need_of(Machine const& machine, TemporalCase const& what) {
  return {.points = what.planes,
          .rows = what.side,
          .reach = 1,
          .row_bytes = static_cast<std::size_t>(what.side) * 2 * sizeof(double),
          .workers = static_cast<int>(workers_of(machine).size())};
}

policy::TileSize size_of(Machine const& machine, TemporalCase const& what) {
  auto const share = topologies::cache_share(machine.shape, workers_of(machine));
  auto size =
      policy::choose_tile(need_of(machine, what), policy::room_for_tiles(share.l2, share.last));
  if (what.width > 0) size.width = what.width;
  return size;
}

TileWork::Window window_of(Machine const& machine, TemporalCase const& what) {
  auto const share = topologies::cache_share(machine.shape, workers_of(machine));
  auto const bytes = policy::window_bytes(need_of(machine, what), size_of(machine, what));
  return {static_cast<double>(bytes), static_cast<double>(share.l2),
          static_cast<double>(share.l2 + share.last)};
}

struct Groups {
  std::vector<int> cache_of;  // [position]
  std::vector<double> bytes;  // [cache]
};

Groups caches_of(Machine const& machine, policy::CoreMap const& map) {
  Groups all{std::vector<int>(static_cast<std::size_t>(map.size()), 0), {}};
  auto const share = topologies::cache_share(machine.shape, workers_of(machine));
  for (auto const& sharers : machine.shape.groups(level::l3)) {
    for (int const cpu : sharers)
      all.cache_of[static_cast<std::size_t>(map.position(cpu))] =
          static_cast<int>(all.bytes.size());
    all.bytes.push_back(static_cast<double>((share.l2 + share.last) * sharers.size()));
  }
  return all;
}

class TemporalRun {
 public:
  TemporalRun(Machine const& machine, TemporalCase const& what, std::uint64_t seed, LostStep lost)
      : machine_(machine),
        what_(what),
        width_(size_of(machine, what).width),
        map_(machine.core_map()),
        simulation_(lost),
        memory_(machine, map_, simulation_.network),
        team_(machine.shape, workers_of(machine), {.queue_level = what.queue_level}),
        work_(machine, what_, window_of(machine, what)),
        groups_(caches_of(machine, map_)),
        caches_(static_cast<std::size_t>(what.planes), has_cache()),
        tiles_(what.planes, 1, false, width_, what.steps),
        random_(seed) {}

  TemporalOutcome outcome() {
    if (what_.way == TemporalWay::queues)
      run_from_queues();
    else
      run_in_phases();
    TemporalOutcome all;
    double const updates = work_.all_updates();
    all.mlups = updates / seconds(simulation_.now()) * 1e-6;
    all.bytes_per_update = moved_gb_ * 1e9 / updates;
    all.remote_bytes = moved_gb_ > 0 ? moved_far_gb_ / moved_gb_ : 0;
    if (what_.way == TemporalWay::sweeps) return all;
    all.remote_tiles = static_cast<double>(remote_tiles_) / static_cast<double>(tiles_run_);
    all.width = static_cast<int>(width_);
    all.window_kib = window_of(machine_, what_).bytes / 1024;
    return all;
  }

  // An actor is a worker that looks for work.
  void happen(Event const& event) { go_on(static_cast<int>(event.actor)); }
  void ended(FlowId flow) {
    auto const found = running_.find(flow);
    auto const [worker, tile] = found->second;
    running_.erase(found);
    if (queues_) {
      ++ended_;
      spawn_behind(tile);
    }
    go_on(worker);
  }

 private:
  struct Running {
    int worker = 0;
    std::size_t tile = 0;  // number
  };

  std::vector<double> has_cache() const {
    return what_.has_cache ? groups_.bytes : std::vector<double>(groups_.bytes.size(), 0);
  }

  void run_in_phases() {
    bool const sweeps = what_.way == TemporalWay::sweeps;
    auto const phases = sweeps ? what_.steps : tiles_.rows();
    auto const pieces = sweeps ? team_.cpus.size() : static_cast<std::size_t>(tiles_.columns());
    auto const barrier = static_cast<Time>(machine_.barrier_ns.value) * team_.size();
    for (phase_ = 0; phase_ < phases; ++phase_) {
      loop_.emplace(schedule_kind::static_blocks, 1, pieces, team_);
      all_look_for_work(phase_ > 0 ? barrier : 0);
    }
  }
  void run_from_queues() {
    queues_.emplace(team_.layout);
    waits_ = policy::predecessors(tiles_);
    for (std::size_t n = 0; n < waits_.size(); ++n)
      if (waits_[n] == 0) queues_->put(queue_of(n), n);  // nobody is idle yet
    tiles_to_run_ =
        std::count_if(waits_.begin(), waits_.end(), [](auto const& w) { return w.has_value(); });
    all_look_for_work(0);
  }
  void all_look_for_work(Time after) {
    for (int w = 0; w < team_.size(); ++w)
      simulation_.events.post(simulation_.now() + after + random_.below(apart_ns),
                              static_cast<Actor>(w), 0);
    run_to_end(
        simulation_, *this,
        [this] { return queues_ ? ended_ == tiles_to_run_ : loop_->is_through(); },
        [this] { return queues_ ? states() : loop_->states(); });
  }

  std::string states() const {
    std::string text =
        std::to_string(ended_) + " of " + std::to_string(tiles_to_run_) + " tiles have ended";
    std::vector<std::string> does(static_cast<std::size_t>(team_.size()), "without a tile");
    for (auto const& [flow, what] : running_)
      does[static_cast<std::size_t>(what.worker)] = "at tile " + std::to_string(what.tile);
    for (std::size_t w = 0; w < does.size(); ++w)
      text += "\n  worker " + std::to_string(w) + ": " + does[w];
    return text;
  }

  void go_on(int worker) {
    if (queues_) {
      if (auto const tile = queues_->take(worker)) start_tile(worker, *tile);
      return;
    }
    while (auto const piece = loop_->next(worker, random_)) {
      if (what_.way == TemporalWay::sweeps) return start_part_of_sweep(worker, *piece);
      auto const n = static_cast<std::size_t>(phase_ * tiles_.columns()) + *piece;
      if (!tiles_.diamond(tiles_.tile(n)).empty()) return start_tile(worker, n);
    }
  }

  int queue_of(std::size_t n) const {
    auto const plane = tiles_.middle(tiles_.tile(n));
    auto const& queues = queues_->queues_of(work_.domain_of(plane));
    return queues[policy::queue_of_plane(static_cast<std::size_t>(plane),
                                         static_cast<std::size_t>(what_.planes), work_.domains(),
                                         queues.size())];
  }
  void spawn_behind(std::size_t n) {
    tiles_.for_each(tiles_.behind(tiles_.tile(n)), [this](std::size_t next) {
      if (!waits_[next] || --*waits_[next] > 0) return;
      if (auto const woken = queues_->put(queue_of(next), next))
        simulation_.events.post(simulation_.now(), static_cast<Actor>(*woken), 0);
    });
  }

  void start_tile(int worker, std::size_t n) {
    auto const tile = tiles_.tile(n);
    ++tiles_run_;
    remote_tiles_ += memory_.domain_of(cpu(worker)) != work_.domain_of(tiles_.middle(tile));
    work_.plan(tiles_, tile, planes_);
    start({worker, n}, true, queues_ ? tile_ns : 0);
  }
  void start_part_of_sweep(int worker, std::size_t part) {
    auto const planes = static_cast<std::size_t>(what_.planes), parts = team_.cpus.size();
    planes_.clear();
    for (auto p = part * planes / parts; p < (part + 1) * planes / parts; ++p) {
      auto const plane = static_cast<std::int64_t>(p);
      planes_.push_back({plane, work_.updates_of_step(plane)});
    }
    if (planes_.empty()) return go_on(worker);
    start({worker, 0}, false, 0);
  }
  // Uses planes_. A core computes while its lines are under way.
  void start(Running const& what, bool in_tile, double more_ns) {
    int const here = cpu(what.worker), domain = memory_.domain_of(here);
    traffic_.assign(machine_.shape.domains().size(), {});
    for (std::size_t d = 0; d < traffic_.size(); ++d) traffic_[d].domain = static_cast<int>(d);
    work_.move(planes_, in_tile, groups_.cache_of[static_cast<std::size_t>(here)], caches_,
               traffic_);
    double updates = 0, memory_s = 0;
    for (auto const& p : planes_) updates += p.updates;
    double const more = 1 + piece_jitter * (2 * random_.uniform() - 1);
    for (auto& t : traffic_) {
      t.in_gb *= more;
      t.out_gb *= more;
      double const gb = t.in_gb + t.out_gb;
      moved_gb_ += gb;
      if (t.domain != domain) moved_far_gb_ += gb;
      memory_s += gb / machine_.thread_gb_per_s.value * machine_.slowdown(domain, t.domain);
    }
    std::erase_if(traffic_, [](Traffic const& t) { return t.in_gb + t.out_gb <= 0; });
    double const core_s = updates * update_ns * 1e-9 * more;
    double const busy_s = std::max(core_s - memory_s, 0.0) + (more_ns + 1) * 1e-9;
    running_.emplace(memory_.start(simulation_.now(), here, busy_s, traffic_), what);
  }

  int cpu(int worker) const noexcept { return team_.cpus[static_cast<std::size_t>(worker)]; }

  Machine const& machine_;
  TemporalCase const what_;
  std::int64_t width_;
  policy::CoreMap map_;
  Simulation simulation_;
  MemorySystem memory_;
  Team team_;
  TileWork work_;
  Groups groups_;
  PlaneCaches caches_;
  policy::TimeTiles tiles_;
  Random random_;
  std::optional<LoopRun> loop_;  // of a phase: a step, or a row of tiles
  std::int64_t phase_ = 0;
  std::optional<TaskQueues> queues_;
  std::vector<std::optional<int>> waits_;  // [number]: tiles before it that are not done
  std::vector<PlaneUpdates> planes_;       // of what begins
  std::vector<Traffic> traffic_;
  std::unordered_map<FlowId, Running> running_;
  double moved_gb_ = 0, moved_far_gb_ = 0;
  long tiles_run_ = 0, remote_tiles_ = 0;
  std::ptrdiff_t tiles_to_run_ = 0, ended_ = 0;  // from queues
};

}  // namespace

int chosen_width(Machine const& machine, TemporalCase what) {
  what.width = 0;
  return static_cast<int>(size_of(machine, what).width);
}

double streaming_limit_mlups(Machine const& machine) {
  return machine.shape.cpu_domains() * machine.controller_gb_per_s.value * 1e3 / copy_bytes;
}

TemporalOutcome run_temporal(Machine const& machine, TemporalCase const& what, std::uint64_t seed,
                             LostStep lost) {
  return TemporalRun(machine, what, seed, lost).outcome();
}

}  // namespace nigh::sim
