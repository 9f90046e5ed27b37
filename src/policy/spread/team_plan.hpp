// SPDX-License-Identifier: Apache-2.0
#pragma once
// TeamPlan: which workers make a team, which take no part, and which team gets which blocks of a
// loop?
//
//   ordered   all workers, in hardware order (OrderedWorkers)
//   places    the workers that take part, in the same order
//   teams     runs of places
//
//   2 domains of 4, spread 3     places  0 1 2 3 | 4 5 6 7     teams  0 0 1 1 | 2 2 3 3
//   the same, spread 5                   0 1 2 3 | 4 5 6 7            0 0 0 0 | 1 1 1 1
//   the same, 4 active, spread 2         0   2   | 4   6              0   0   | 1   1
//
// A team larger than a set (package, domain, L3) consists of whole sets; a smaller one lies in one
// set. L2 caches are kept together where that makes no more teams. Blocks are shared out to places,
// so that a block stays at its place whatever the teams are.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nigh/topology.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "policy/loops/loop_schedule.hpp"

namespace nigh::policy {

// OrderedWorkers: the workers of a program in hardware order: those that share a cache stand side
// by side.

class OrderedWorkers {
 public:
  // Sets whose borders a team should not cross, largest first.
  enum Set : std::uint8_t { package, domain, l3, l2, core };
  static constexpr std::size_t sets = 5;

  struct Entry {
    int worker = 0;
    int domain = 0;            // of the machine
    std::array<int, sets> in;  // number of the package, domain, L3, L2, core
    int sibling = 0;           // how many workers of its core come before it
  };

  // For a machine of which only the shared sets are known. In hardware order; `sibling` is filled
  // in, and each entry's number is its worker.
  explicit OrderedWorkers(std::vector<Entry> ordered) : entries_(std::move(ordered)) {
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].worker = static_cast<int>(i);
    count_siblings();
  }

  OrderedWorkers(topology const& machine, std::vector<int> const& cpu_of) {
    std::array<std::vector<std::vector<int>>, sets> groups{machine.groups(level::package),
                                                           {},
                                                           machine.groups(level::l3),
                                                           machine.groups(level::l2),
                                                           machine.groups(level::core)};
    for (int d = 0; d < machine.cpu_domains(); ++d)
      groups[domain].push_back(machine.domains()[static_cast<std::size_t>(d)].cpus);
    std::vector<std::array<int, sets>> in(
        static_cast<std::size_t>(*std::max_element(machine.cpus().begin(), machine.cpus().end())) +
        1);
    for (std::size_t s = 0; s < sets; ++s)
      for (std::size_t g = 0; g < groups[s].size(); ++g)
        for (int cpu : groups[s][g]) in[static_cast<std::size_t>(cpu)][s] = static_cast<int>(g);
    for (std::size_t w = 0; w < cpu_of.size(); ++w)
      entries_.push_back({static_cast<int>(w), machine.domain_of_cpu(cpu_of[w]),
                          in[static_cast<std::size_t>(cpu_of[w])], 0});
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](Entry const& a, Entry const& b) { return a.in < b.in; });
    count_siblings();
    auto const domains = machine.domains().size();
    distances_.resize(domains, std::vector<double>(domains));
    for (std::size_t a = 0; a < domains; ++a)
      for (std::size_t b = 0; b < domains; ++b)
        distances_[a][b] = machine.distance(static_cast<int>(a), static_cast<int>(b));
  }

  std::vector<Entry> const& all() const noexcept { return entries_; }
  int size() const noexcept { return static_cast<int>(entries_.size()); }
  int cores() const noexcept {
    return static_cast<int>(std::count_if(entries_.begin(), entries_.end(),
                                          [](Entry const& s) { return s.sibling == 0; }));
  }
  // Domains that have workers, and how many the largest of them has.
  int domains() const noexcept { return count_domains().first; }
  int largest_domain() const noexcept { return count_domains().second; }
  std::vector<std::vector<double>> const& distances() const noexcept { return distances_; }

 private:
  void count_siblings() noexcept {
    for (std::size_t i = 1; i < entries_.size(); ++i)
      if (entries_[i].in[core] == entries_[i - 1].in[core])
        entries_[i].sibling = entries_[i - 1].sibling + 1;
  }
  std::pair<int, int> count_domains() const noexcept {
    int count = 0, largest = 0, here = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      bool const begins = i == 0 || entries_[i].domain != entries_[i - 1].domain;
      count += begins ? 1 : 0;
      here = begins ? 1 : here + 1;
      largest = std::max(largest, here);
    }
    return {count, largest};
  }

  std::vector<Entry> entries_;  // in hardware order
  std::vector<std::vector<double>> distances_;
};

struct TeamChoice {
  int spread = 1;
  int active = 0;  // 0: all
  bool smt = true;
  std::vector<bool> present = {};  // [worker]; empty: all

  bool operator==(TeamChoice const&) const = default;
};

class TeamPlan {
 public:
  TeamPlan(OrderedWorkers const& ordered, TeamChoice const& choice) {
    auto const taken = active_entries(ordered, choice);
    int const n = static_cast<int>(taken.size());
    place_of_.assign(ordered.all().size(), -1);
    for (int p = 0; p < n; ++p) {
      int const w = at(taken, p).worker;
      worker_at_.push_back(w);
      place_of_[static_cast<std::size_t>(w)] = p;
    }
    begins_.push_back(0);
    divide(taken, 0, n, std::max(1, choice.spread), OrderedWorkers::package);
    for (int t = 0; t < teams(); ++t) {
      for (int p = begin(t); p < end(t); ++p) team_of_.push_back(t);
      team_workers_.push_back(loop_workers_of(ordered, taken, begin(t), end(t)));
      firsts_.push_back(at(taken, begin(t)));
    }
    domains_ = ordered.distances();
    loop_workers_ = loop_workers_of(ordered, taken, 0, n);
  }

  int places() const noexcept { return static_cast<int>(worker_at_.size()); }
  int worker_at(int place) const noexcept { return worker_at_[static_cast<std::size_t>(place)]; }
  // -1: takes no part
  int place_of(int worker) const noexcept { return place_of_[static_cast<std::size_t>(worker)]; }

  int teams() const noexcept { return static_cast<int>(begins_.size()) - 1; }
  int team_of(int place) const noexcept { return team_of_[static_cast<std::size_t>(place)]; }
  int begin(int team) const noexcept { return begins_[static_cast<std::size_t>(team)]; }
  int end(int team) const noexcept { return begins_[static_cast<std::size_t>(team) + 1]; }

  // The distance of two teams: by the set that holds both, or by their domains.
  double distance(int team, int other) const noexcept {
    auto const& a = firsts_[static_cast<std::size_t>(team)];
    auto const& b = firsts_[static_cast<std::size_t>(other)];
    if (a.domain != b.domain)
      return across_domains *
             domains_[static_cast<std::size_t>(a.domain)][static_cast<std::size_t>(b.domain)];
    std::size_t shared = OrderedWorkers::l3;
    while (shared < OrderedWorkers::sets && a.in[shared] == b.in[shared]) ++shared;
    return static_cast<double>(OrderedWorkers::sets - shared);
  }

  LoopWorkers const& loop_workers() const noexcept { return loop_workers_; }  // of all places
  LoopWorkers const& loop_workers(
      int team) const noexcept {  // of the team's, counted from its first one
    return team_workers_[static_cast<std::size_t>(team)];
  }

 private:
  using Entry = OrderedWorkers::Entry;
  using Entries = std::vector<Entry>;
  static constexpr double across_domains = 100;

  static Entry const& at(Entries const& ordered, int i) noexcept {
    return ordered[static_cast<std::size_t>(i)];
  }
  static int parts(int whole, int most) noexcept { return (whole + most - 1) / most; }

  // At least one worker takes part. One of each core first, and a share of each domain.
  static Entries active_entries(OrderedWorkers const& all, TeamChoice const& choice) {
    Entries present;
    for (auto const& entry : all.all())
      if (choice.present.empty() || choice.present[static_cast<std::size_t>(entry.worker)])
        present.push_back(entry);
    if (present.empty()) present.push_back(all.all().front());
    std::vector<std::size_t> by_sibling(present.size());
    std::iota(by_sibling.begin(), by_sibling.end(), 0);
    std::stable_sort(by_sibling.begin(), by_sibling.end(), [&](std::size_t a, std::size_t b) {
      return present[a].sibling < present[b].sibling;
    });
    auto const firsts =
        static_cast<std::size_t>(std::count_if(present.begin(), present.end(), [&](Entry const& s) {
          return s.sibling == present[by_sibling.front()].sibling;
        }));
    auto most = choice.smt ? present.size() : firsts;
    if (choice.active > 0) most = std::min(most, static_cast<std::size_t>(choice.active));

    std::vector<bool> taken(present.size());
    std::size_t left = most;
    for (std::size_t from = 0; left > 0;) {  // a round for each number of siblings
      auto to = from;
      while (to < present.size() &&
             present[by_sibling[to]].sibling == present[by_sibling[from]].sibling)
        ++to;
      auto const here = to - from, n = std::min(here, left);
      for (std::size_t i = 0; i < n; ++i) taken[by_sibling[from + i * here / n]] = true;
      left -= n;
      from = to;
    }
    Entries active;
    for (std::size_t i = 0; i < present.size(); ++i)
      if (taken[i]) active.push_back(present[i]);
    return active;
  }

  // Makes teams of the places [from, to), which lie in one set of the next larger kind.
  void divide(Entries const& ordered, int from, int to, int spread, std::size_t kind) {
    int const n = to - from;
    if (n <= spread) return add(from, to);
    if (kind >= OrderedWorkers::core) {
      int const count = parts(n, spread);
      for (int t = 0; t < count; ++t) add(from + t * n / count, from + (t + 1) * n / count);
      return;
    }
    std::vector<int> bounds;  // of the sets
    for (int p = from; p < to; ++p)
      if (p == from || at(ordered, p).in[kind] != at(ordered, p - 1).in[kind]) bounds.push_back(p);
    bounds.push_back(to);
    if (bounds.size() == 2) return divide(ordered, from, to, spread, kind + 1);
    bool const keeps_none_together = largest_set(bounds) == 1;
    if (keeps_none_together ||
        (kind == OrderedWorkers::l2 && teams_of(bounds, spread) > parts(n, spread)))
      return divide(ordered, from, to, spread, OrderedWorkers::core);
    for (std::size_t b = 0; b + 1 < bounds.size();) {
      if (bounds[b + 1] - bounds[b] > spread) {
        divide(ordered, bounds[b], bounds[b + 1], spread, kind + 1);
        ++b;
        continue;
      }
      auto last = b;  // of a run of sets that are no larger than a team
      while (last + 1 < bounds.size() && bounds[last + 1] - bounds[last] <= spread) ++last;
      join(bounds, b, last, spread);
      b = last;
    }
  }

  // How many teams there would be if no set were cut without need.
  static int teams_of(std::vector<int> const& bounds, int spread) noexcept {
    int count = 0, filled = spread;
    for (std::size_t b = 0; b + 1 < bounds.size(); ++b) {
      int const size = bounds[b + 1] - bounds[b];
      if (size > spread) {
        count += parts(size, spread);
        filled = spread;
      } else if (filled + size > spread) {
        ++count;
        filled = size;
      } else {
        filled += size;
      }
    }
    return count;
  }

  // Whole sets, as few teams as possible, the largest of them as small as possible.
  void join(std::vector<int> const& bounds, std::size_t first, std::size_t last, int spread) {
    std::vector<int> const run(bounds.begin() + static_cast<std::ptrdiff_t>(first),
                               bounds.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    int const count = teams_of(run, spread);
    int most = parts(run.back() - run.front(), count);
    while (largest_set(run) > most || teams_of(run, most) > count) ++most;
    int begin = run.front();
    for (std::size_t b = 1; b + 1 < run.size(); ++b)
      if (run[b + 1] - begin > most) add(std::exchange(begin, run[b]), run[b]);
    add(begin, run.back());
  }
  static int largest_set(std::vector<int> const& bounds) noexcept {
    int largest = 0;
    for (std::size_t b = 0; b + 1 < bounds.size(); ++b)
      largest = std::max(largest, bounds[b + 1] - bounds[b]);
    return largest;
  }

  void add(int from, int to) {
    NIGH_ASSERT(begins_.back() == from && from < to, "teams follow each other");
    begins_.push_back(to);
  }

  static LoopWorkers loop_workers_of(OrderedWorkers const& all, Entries const& ordered, int from,
                                     int to) {
    LoopWorkers loop_workers;
    std::vector<int> domain_of;  // [home]
    for (int p = from; p < to; ++p) {
      int const d = at(ordered, p).domain;
      if (domain_of.empty() || domain_of.back() != d) {
        domain_of.push_back(d);
        loop_workers.workers_at.push_back(0);
      }
      loop_workers.home_of.push_back(static_cast<int>(domain_of.size()) - 1);
      loop_workers.rank_of.push_back(loop_workers.workers_at.back()++);
    }
    for (auto const& from_domain : all.distances()) {
      int nearest = 0;
      double least = std::numeric_limits<double>::max();
      auto const d = static_cast<int>(&from_domain - all.distances().data());
      for (std::size_t h = 0; h < domain_of.size(); ++h) {
        double const far =
            domain_of[h] == d ? -1 : from_domain[static_cast<std::size_t>(domain_of[h])];
        if (far < least) {
          least = far;
          nearest = static_cast<int>(h);
        }
      }
      loop_workers.home_of_domain.push_back(nearest);
    }
    return loop_workers;
  }

  std::vector<int> worker_at_, place_of_, team_of_, begins_;
  LoopWorkers loop_workers_;
  std::vector<LoopWorkers> team_workers_;
  std::vector<Entry> firsts_;                 // [team]
  std::vector<std::vector<double>> domains_;  // their distances
};

}  // namespace nigh::policy
