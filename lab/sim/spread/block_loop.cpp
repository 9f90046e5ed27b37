// SPDX-License-Identifier: Apache-2.0
#include "sim/spread/block_loop.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/spread/team_plan.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"
#include "sim/spread/core_caches.hpp"

namespace nigh::sim {

namespace {

constexpr double held_bytes = 16;                     // of a site: old value and new
constexpr double update_bytes = 24, again_bytes = 8;  // to and from memory; see docs/simulator.md
constexpr double site_ns = 1, again_ns = 0.5;         // of a site on a core, assumed: hardly felt
constexpr double row_copy_bytes = 16;                 // of a site of a border: read and written
constexpr double column_copy_bytes = 72;              // there, a cache line for each
constexpr double border_bytes = 8, block_jitter = 0.01;  // of a block's work; assumed

class Loop {
 public:
  Loop(Machine const& machine, BlockLoop const& what, std::uint64_t seed, LostStep lost)
      : machine_(machine),
        what_(what),
        random_(seed),
        hosts_(static_cast<int>(machine.hosts.value)),
        domains_(machine.shape.cpu_domains()),
        simulation_(lost) {
    auto const caches = CoreCaches::of(machine.shape);
    int cores = 1 << 30;  // of each domain: the smallest one's
    for (auto const& d : caches.cache_of) cores = std::min(cores, static_cast<int>(d.size()));
    workers_ = what.active > 0 ? std::min(what.active, cores) : cores;
    make_resources();
    make_teams(caches, cores);
    make_blocks();
  }

  LoopTimes run() {
    for (int b = 0; b < blocks(); ++b) make_ready(b);
    run_to_end(
        simulation_, *this, [this] { return ended_ == blocks(); }, [this] { return states(); });
    while (simulation_.step(*this)) {  // the last borders are on their way
    }
    LoopTimes times;
    times.iteration_s = (last_s_ - first_s_) / blocks() / what_.iterations;
    times.memory_gb_per_s = moved_gb_ / hosts_ / seconds(simulation_.now());
    for (Team const& t : teams_) times.kept += t.kept / static_cast<double>(teams_.size());
    times.teams = static_cast<int>(teams_.size()) / hosts_;
    return times;
  }

  void happen(Event const& e) {
    if (e.what >= arrived) return border_arrives(static_cast<int>(e.actor), e.what - arrived);
    Team& team = teams_[e.actor];
    switch (e.what) {
      case received:
        return copy_borders(team, 1, taking);
      case met:
        return team.step == updating ? go_through(team, reading) : hand_out(team);
      default:
        return finish(team);
    }
  }

  void ended(FlowId flow) {
    auto const found = owner_.find(flow);
    auto const owner = found->second;
    owner_.erase(found);
    if (owner.message_to >= 0) return deliver(owner.message_to, machine_.network_message_ns.value);
    Team& team = teams_[static_cast<std::size_t>(owner.team)];
    if (--team.flows > 0) return;
    if (team.step == taking) return go_through(team, updating);
    if (team.step == handing) return after(team, own_message_s(team), sent);
    after(team, team.workers > 1 ? machine_.barrier_ns.value * 1e-9 * team.workers : 0, met);
  }

 private:
  std::string states() const {
    std::string text =
        std::to_string(ended_) + " of " + std::to_string(blocks()) + " blocks have ended";
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (blocks_[b].iteration <= what_.iterations)
        text += "\n  block " + std::to_string(b) + ": in iteration " +
                std::to_string(blocks_[b].iteration) +
                (blocks_[b].waits ? ", waiting for borders" : "");
    for (std::size_t t = 0; t < teams_.size(); ++t)
      text += "\n  team " + std::to_string(t) + ": " +
              (teams_[t].block < 0 ? "idle" : "at block " + std::to_string(teams_[t].block));
    return text;
  }

  enum What : std::uint32_t { received, met, sent, arrived };  // arrived + parity of the iteration
  enum Step : unsigned char { taking, updating, reading, handing };

  struct Part {
    int domain = 0;  // of all hosts
    int workers = 0;
  };
  struct Team {
    int group = 0, workers = 1;
    std::vector<Part> parts;
    double kept = 0, kept_all = 0;
    int block = -1;
    Step step = taking;
    int flows = 0;  // under way
    double work = 1;
  };
  struct Group {  // teams that take from one queue
    std::deque<int> ready, idle;
  };
  struct Block {
    int group = 0, host = 0;
    int iteration = 0;
    std::array<int, 2> borders{};  // that have arrived, [parity]
    bool waits = false;
    std::vector<int> rows, columns;  // neighbours above and below; at the sides
  };
  struct Owner {
    int team = -1, message_to = -1;  // the latter: of arrival, block x 2 + parity
  };

  int blocks() const noexcept { return what_.grid * what_.grid; }
  double sites() const noexcept { return static_cast<double>(what_.edge) * what_.edge; }
  Actor id(Team const& t) const noexcept { return static_cast<Actor>(&t - teams_.data()); }

  void make_resources() {
    for (int d = 0; d < hosts_ * domains_; ++d)
      simulation_.network.add({machine_.controller_gb_per_s.value, machine_.crowding.value,
                               static_cast<int>(machine_.uncrowded_flows.value)});
    interfaces_ = static_cast<ResourceId>(simulation_.network.resources());
    if (hosts_ > 1)  // out and in
      for (int h = 0; h < 2 * hosts_; ++h)
        simulation_.network.add({machine_.network_gb_per_s.value, 0, 0});
  }

  // The runtime's plan of teams (policy::TeamPlan), for each host.
  void make_teams(CoreCaches const& caches, int cores) {
    std::vector<int> cpu_of, cache_of;  // [worker]
    for (std::size_t d = 0; d < static_cast<std::size_t>(domains_); ++d)
      for (int w = 0; w < workers_; ++w) {
        auto const core = static_cast<std::size_t>(w * cores / workers_);
        cpu_of.push_back(caches.cpu_of[d][core]);
        cache_of.push_back(caches.cache_of[d][core]);
      }
    policy::TeamPlan const plan(policy::OrderedWorkers(machine_.shape, cpu_of),
                                {.spread = what_.spread});
    // Calls use(cache) for each worker of a team whose cache is known.
    auto const for_caches = [&](int team, auto use) {
      for (int p = plan.begin(team); p < plan.end(team); ++p)
        if (int const c = cache_of[static_cast<std::size_t>(plan.worker_at(p))]; c >= 0)
          use(static_cast<std::size_t>(c));
    };
    // Bytes that the workers behind each cache go through at a time.
    std::vector<double> at_a_time(caches.bytes.size(), 0);
    for (int t = 0; t < plan.teams(); ++t)
      for_caches(t, [&](std::size_t cache) {
        at_a_time[cache] += sites() * held_bytes / (plan.end(t) - plan.begin(t));
      });
    double const of_host = sites() * held_bytes * what_.grid * what_.grid / hosts_;
    double const cached = std::accumulate(caches.bytes.begin(), caches.bytes.end(), 0.0);
    double const kept_all = what_.has_cache ? kept_share(of_host, cached) : 0;

    std::vector<Team> of_one_host;
    for (int t = 0; t < plan.teams(); ++t) {
      Team team;
      team.workers = plan.end(t) - plan.begin(t);
      for (int p = plan.begin(t); p < plan.end(t); ++p) {
        int const domain = plan.worker_at(p) / workers_;
        if (team.parts.empty() || team.parts.back().domain != domain)
          team.parts.push_back({domain, 0});
        ++team.parts.back().workers;
      }
      // Teams of one domain take from one queue.
      bool const joins = t > 0 && of_one_host.back().parts.back().domain == team.parts[0].domain;
      team.group = joins ? of_one_host.back().group : groups_of_host_++;
      team.kept_all = kept_all;
      if (what_.has_cache)
        for_caches(t, [&](std::size_t cache) {
          team.kept += kept_share(at_a_time[cache], caches.bytes[cache]) / team.workers;
        });
      team.kept = std::max(team.kept, team.kept_all);
      of_one_host.push_back(std::move(team));
    }
    groups_.resize(static_cast<std::size_t>(hosts_ * groups_of_host_));
    for (int h = 0; h < hosts_; ++h)
      for (Team team : of_one_host) {
        team.group += h * groups_of_host_;
        for (Part& part : team.parts) part.domain += h * domains_;
        teams_.push_back(std::move(team));
      }
    for (Team const& t : teams_)
      groups_[static_cast<std::size_t>(t.group)].idle.push_back(static_cast<int>(id(t)));
  }

  // Hosts in a rectangle as square as can be; a host's blocks in strips of rows, one a group.
  void make_blocks() {
    int high = 1;
    for (int n = 1; n * n <= hosts_; ++n)
      if (hosts_ % n == 0) high = n;
    int const wide = hosts_ / high, n = what_.grid;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        int const host_row = i * high / n, host = host_row * wide + j * wide / n;
        int const top = (host_row * n + high - 1) / high,
                  bottom = ((host_row + 1) * n + high - 1) / high;
        Block b;
        b.host = host;
        b.group = host * groups_of_host_ + (i - top) * groups_of_host_ / (bottom - top);
        if (i > 0) b.rows.push_back((i - 1) * n + j);
        if (i + 1 < n) b.rows.push_back((i + 1) * n + j);
        if (j > 0) b.columns.push_back(i * n + j - 1);
        if (j + 1 < n) b.columns.push_back(i * n + j + 1);
        blocks_.push_back(std::move(b));
      }
  }

  void make_ready(int block) {
    Group& group =
        groups_[static_cast<std::size_t>(blocks_[static_cast<std::size_t>(block)].group)];
    group.ready.push_back(block);
    if (group.idle.empty()) return;
    Team& team = teams_[static_cast<std::size_t>(group.idle.front())];
    group.idle.pop_front();
    seek(team);
  }

  void seek(Team& team) {
    Group& group = groups_[static_cast<std::size_t>(team.group)];
    if (group.ready.empty()) {
      group.idle.push_back(static_cast<int>(id(team)));
      return;
    }
    team.block = group.ready.front();
    group.ready.pop_front();
    team.work = 1 + block_jitter * (2 * random_.uniform() - 1);
    // The first iteration begins with what is there.
    bool const takes = what_.sends && block_of(team).iteration > 0;
    takes ? after(team, own_message_s(team), received) : go_through(team, updating);
  }

  Block& block_of(Team const& t) { return blocks_[static_cast<std::size_t>(t.block)]; }
  // A message keeps the leader busy for half of its time at each end.
  double own_message_s(Team const& t) {
    Block const& b = block_of(t);
    return static_cast<double>(b.rows.size() + b.columns.size()) * machine_.message_ns.value *
           0.5e-9;
  }
  void after(Team const& t, double s, What what) {
    simulation_.events.post(simulation_.now() + nanoseconds(s), id(t), what);
  }

  // The leader, alone. `missing`: the share of the block that comes from memory.
  void copy_borders(Team& team, double missing, Step step) {
    Block const& b = block_of(team);
    double const bytes = what_.edge * (static_cast<double>(b.rows.size()) * row_copy_bytes +
                                       static_cast<double>(b.columns.size()) * column_copy_bytes);
    team.step = step;
    team.flows = 1;
    start(team, team.parts.front().domain, bytes, 1, missing, 1 / machine_.thread_gb_per_s.value);
  }
  void hand_out(Team& team) {
    if (!what_.sends) return finish(team);
    copy_borders(team, 1 - team.kept, handing);
  }

  // All of the team, each its share of the sites.
  void go_through(Team& team, Step step) {
    team.step = step;
    team.flows = static_cast<int>(team.parts.size());
    double const bytes =
        step == updating ? update_bytes * (1 - team.kept_all) : again_bytes * (1 - team.kept);
    for (Part const& p : team.parts)
      start(team, p.domain, sites() / team.workers * team.work, p.workers, bytes,
            step == updating ? site_ns : again_ns);
  }

  // Each of so many workers goes through `amount`, with so many bytes of memory for each unit and
  // so long on its core.
  void start(Team& team, int domain, double amount, int workers, double bytes, double ns) {
    double const unit_s = std::max({ns, bytes / machine_.thread_gb_per_s.value, 1e-3}) * 1e-9;
    Use const use{static_cast<ResourceId>(domain), workers * bytes * 1e-9};
    moved_gb_ += amount * use.weight;
    auto const flow = simulation_.network.start(
        simulation_.now(), amount, {&use, use.weight > 0 ? std::size_t{1} : 0}, 1 / unit_s);
    owner_.emplace(flow, Owner{static_cast<int>(id(team)), -1});
  }

  void finish(Team& team) {
    int const done = team.block;
    Block& b = block_of(team);
    team.block = -1;
    ++b.iteration;
    if (b.iteration == 1) first_s_ += seconds(simulation_.now());
    if (b.iteration == what_.iterations + 1) {
      last_s_ += seconds(simulation_.now());
      ++ended_;
    }
    if (what_.sends) {
      send(b);
      b.waits = true;
      go_on_if_complete(done);
    } else if (b.iteration <= what_.iterations) {
      make_ready(done);
    }
    seek(team);
  }

  // Borders leave as soon as their block is done.
  void send(Block const& from) {
    for (auto const* neighbours : {&from.rows, &from.columns})
      for (int to : *neighbours) {
        int const arrival = 2 * to + from.iteration % 2;
        int const there = blocks_[static_cast<std::size_t>(to)].host;
        if (there == from.host) {
          deliver(arrival, machine_.message_ns.value);
          continue;
        }
        std::array<Use, 2> const uses{{{interfaces_ + static_cast<ResourceId>(2 * from.host), 1},
                                       {interfaces_ + static_cast<ResourceId>(2 * there + 1), 1}}};
        auto const flow =
            simulation_.network.start(simulation_.now(), what_.edge * border_bytes * 1e-9, uses);
        owner_.emplace(flow, Owner{-1, arrival});
      }
  }
  void deliver(int arrival, double ns) {
    simulation_.events.post(simulation_.now() + nanoseconds(ns * 1e-9),
                            static_cast<Actor>(arrival / 2),
                            arrived + static_cast<std::uint32_t>(arrival % 2));
  }
  void border_arrives(int block, std::uint32_t parity) {
    ++blocks_[static_cast<std::size_t>(block)].borders[parity];
    go_on_if_complete(block);
  }
  void go_on_if_complete(int block) {
    Block& b = blocks_[static_cast<std::size_t>(block)];
    auto const all = static_cast<int>(b.rows.size() + b.columns.size());
    int& here = b.borders[static_cast<std::size_t>(b.iteration % 2)];
    if (!b.waits || here < all || b.iteration > what_.iterations) return;
    here = 0;
    b.waits = false;
    make_ready(block);
  }

  Machine const& machine_;
  BlockLoop what_;
  Random random_;
  int hosts_, domains_, workers_ = 1;  // workers of a domain
  int groups_of_host_ = 0;
  Simulation simulation_;
  ResourceId interfaces_ = 0;
  std::vector<Block> blocks_;
  std::vector<Group> groups_;
  std::vector<Team> teams_;
  std::unordered_map<FlowId, Owner> owner_;
  double first_s_ = 0, last_s_ = 0;  // sums over blocks: ends of the first iteration, of the last
  double moved_gb_ = 0;
  int ended_ = 0;  // blocks
};

}  // namespace

LoopTimes simulate_blocks(Machine const& machine, BlockLoop const& loop, std::uint64_t seed,
                          LostStep lost) {
  return Loop(machine, loop, seed, lost).run();
}

}  // namespace nigh::sim
