// SPDX-License-Identifier: Apache-2.0
#pragma once
// WorkerLayout: which worker sits on which cpu, which workers share a locality queue, which queues
// they look at when theirs is empty, which victims they steal from, and where tasks near a domain
// go. Made once from a topology; nothing in it changes afterwards.
//
// A queue group is the workers of a domain, or within one those of a cache or a core. A cache may
// reach beyond a domain; a queue group does not.

#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <span>
#include <utility>
#include <vector>

#include "policy/loops/loop_schedule.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::policy {

struct QueueGroup {
  int domain = 0;
  std::vector<int> workers;  // ascending
  std::vector<int> others;   // groups: those of the domain first, the nearest cache before the rest
};

// `cpus`: of each worker. Groups come in the order of their domains, and within a domain in
// hardware order.
inline std::vector<QueueGroup> queue_groups(topology const& machine, std::span<int const> cpus,
                                            level level) {
  std::vector<std::size_t> set_of;  // [cpu]
  auto const sets = machine.groups(level);
  for (std::size_t s = 0; s < sets.size(); ++s)
    for (int const cpu : sets[s]) {
      set_of.resize(std::max(set_of.size(), static_cast<std::size_t>(cpu) + 1));
      set_of[static_cast<std::size_t>(cpu)] = s;
    }
  auto const place = [&](int cpu) {
    return std::pair(machine.domain_of_cpu(cpu), set_of[static_cast<std::size_t>(cpu)]);
  };
  std::vector<std::pair<int, std::size_t>> places;
  for (int const cpu : cpus) places.push_back(place(cpu));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());

  std::vector<QueueGroup> groups;
  for (auto const& p : places) groups.push_back({p.first, {}, {}});
  for (std::size_t w = 0; w < cpus.size(); ++w) {
    auto const found = std::lower_bound(places.begin(), places.end(), place(cpus[w]));
    groups[static_cast<std::size_t>(found - places.begin())].workers.push_back(static_cast<int>(w));
  }

  auto const first_cpu = [&](QueueGroup const& g) {
    return cpus[static_cast<std::size_t>(g.workers.front())];
  };
  for (std::size_t self = 0; self < groups.size(); ++self) {
    std::vector<double> distance;
    for (auto const& other : groups)
      distance.push_back(groups[self].domain != other.domain
                             ? machine.distance(groups[self].domain, other.domain)  // 10 at least
                             : machine.cpu_distance(first_cpu(groups[self]), first_cpu(other)));
    groups[self].others = victim_order(static_cast<int>(self), distance);
  }
  return groups;
}

struct LayoutRules {
  nigh::level queue_level = nigh::level::domain;  // the workers of one such share a queue
  bool strict = false;                            // a domain's tasks stay in the domain
};

class WorkerLayout {
 public:
  // `cpus`: of each worker. Where there are more workers than cpus, several have the same.
  WorkerLayout(topology const& machine, std::span<int const> cpus, LayoutRules rules)
      : cpu_of_(cpus.begin(), cpus.end()) {
    make_groups(machine, rules);
    make_loop_workers(machine);
    for (int w = 0; w < workers(); ++w) victims_.push_back(victim_plan(w, cpu_of_, machine));
    for (int w = 0; w < workers(); ++w) {
      auto const cpu = static_cast<std::size_t>(cpu_of(w));
      if (cpu >= worker_at_cpu_.size()) worker_at_cpu_.resize(cpu + 1, -1);
      if (worker_at_cpu_[cpu] < 0) worker_at_cpu_[cpu] = w;
    }
  }

  int workers() const noexcept { return static_cast<int>(cpu_of_.size()); }
  std::vector<int> const& cpus() const noexcept { return cpu_of_; }  // [worker]
  int cpu_of(int worker) const noexcept { return cpu_of_[at(worker)]; }
  int worker_at_cpu(int cpu) const noexcept {  // the first of them; -1: none
    return at(cpu) < worker_at_cpu_.size() ? worker_at_cpu_[at(cpu)] : -1;
  }
  int domain_of(int worker) const noexcept { return group(group_of(worker)).domain; }
  VictimPlan const& victims_of(int worker) const noexcept { return victims_[at(worker)]; }

  // In the order of their domains, and within a domain in hardware order.
  std::vector<QueueGroup> const& groups() const noexcept { return groups_; }
  QueueGroup const& group(int g) const noexcept { return groups_[at(g)]; }
  int group_of(int worker) const noexcept { return group_of_[at(worker)]; }
  // Tasks of its queue may be taken by the first so many of its `others`, and it takes of theirs.
  int reach(int g) const noexcept { return reach_[at(g)]; }
  std::span<int const> in_reach(int g) const noexcept {
    return {group(g).others.data(), at(reach(g))};
  }

  // For a domain without workers, those of the nearest one that has some.
  int domains() const noexcept { return static_cast<int>(groups_of_domain_.size()); }
  std::vector<int> const& groups_of_domain(int domain) const {
    return groups_of_domain_.at(at(domain));
  }

  // The workers as loops see them: there the workers of a domain belong together, whatever the
  // queues are.
  LoopWorkers const& loop_workers() const noexcept { return loop_workers_; }

 private:
  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

  void make_groups(topology const& machine, LayoutRules rules) {
    groups_ = queue_groups(machine, cpu_of_, rules.queue_level);
    group_of_.resize(cpu_of_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (int const w : groups_[g].workers) group_of_[at(w)] = static_cast<int>(g);
      auto const& others = groups_[g].others;
      auto const is_in_reach = [&](int other) {
        return !rules.strict || group(other).domain == groups_[g].domain;
      };
      reach_.push_back(static_cast<int>(std::count_if(others.begin(), others.end(), is_in_reach)));
    }
  }

  void make_loop_workers(topology const& machine) {
    auto const domains = machine.domains().size();
    std::vector<int> home_at(domains, -1);  // [domain]
    groups_of_domain_.resize(domains);
    int homes = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      auto const d = at(groups_[g].domain);
      if (home_at[d] < 0) home_at[d] = homes++;
      groups_of_domain_[d].push_back(static_cast<int>(g));
    }
    loop_workers_.workers_at.resize(at(homes));
    for (int w = 0; w < workers(); ++w) {
      int const there = home_at[at(domain_of(w))];
      loop_workers_.home_of.push_back(there);
      loop_workers_.rank_of.push_back(loop_workers_.workers_at[at(there)]++);
    }
    for (std::size_t d = 0; d < domains; ++d) {
      auto const nearest = std::min_element(groups_.begin(), groups_.end(), [&](auto& a, auto& b) {
        return machine.distance(a.domain, static_cast<int>(d)) <
               machine.distance(b.domain, static_cast<int>(d));
      });
      auto const home = home_at[d] >= 0 ? d : at(nearest->domain);
      loop_workers_.home_of_domain.push_back(home_at[home]);
      if (d != home) groups_of_domain_[d] = groups_of_domain_[home];
    }
  }

  std::vector<int> cpu_of_;         // [worker]
  std::vector<int> worker_at_cpu_;  // [cpu]
  std::vector<QueueGroup> groups_;
  std::vector<int> reach_;                          // [group]
  std::vector<int> group_of_;                       // [worker]
  std::vector<std::vector<int>> groups_of_domain_;  // [domain]
  std::vector<VictimPlan> victims_;                 // [worker]
  LoopWorkers loop_workers_;
};

// arena_members(): which workers of a runtime may run on the cpus it has been granted?
//
// The workers on these cpus. At least one always may, so that a program goes on while it waits for
// cpus; and where tasks must stay in their domain, at least one of each domain.

struct ArenaWorkers {
  std::vector<int> cpu_of;  // [worker]
  std::vector<int> home_of;
  int homes = 1;
  bool each_home_needs_one = false;
};

inline std::vector<bool> arena_members(ArenaWorkers const& workers, std::span<int const> granted) {
  auto const n = workers.cpu_of.size();
  std::vector<bool> may(n, false);
  std::vector<bool> has_one(workers.each_home_needs_one ? static_cast<std::size_t>(workers.homes)
                                                        : 1);
  auto const group = [&](std::size_t w) {
    return workers.each_home_needs_one ? static_cast<std::size_t>(workers.home_of[w]) : 0;
  };
  for (std::size_t w = 0; w < n; ++w)
    if (std::find(granted.begin(), granted.end(), workers.cpu_of[w]) != granted.end())
      may[w] = has_one[group(w)] = true;
  for (std::size_t w = 0; w < n; ++w)
    if (!has_one[group(w)]) may[w] = has_one[group(w)] = true;
  return may;
}

}  // namespace nigh::policy
