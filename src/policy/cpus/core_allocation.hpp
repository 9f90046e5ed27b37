// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreAllocation: which cpus go to a parallel region that asks, and how many?
//
// Reads which cpus are free and returns a decision; its caller applies it. Time grows with the
// words of a cpu set and with the core sets looked at: about a microsecond for a thousand cpus.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/choice_names.hpp"
#include "policy/cpus/core_map.hpp"
#include "policy/cpus/thread_count.hpp"

namespace nigh::policy {

// Which of a team's cpus each thread gets, and how far apart the threads then are.

// Threads with close numbers should be close. The leader stays at its place; the others follow it
// through its core set, then through the rest of the next larger one, and so on; then from domain
// to domain, each time to the nearest that has cpus of the team.
inline std::vector<int> team_order(CoreMap const& map, PositionSet const& team, int place) {
  int const first = team.has(place) ? place : team.next(0, team.size());
  std::vector<int> order;
  if (first == team.size()) return order;
  auto const append = [&](int begin, int end) {
    for (int p = team.next(begin, end); p < end; p = team.next(p + 1, end)) order.push_back(p);
  };
  Range done{first, first + 1};
  order.push_back(first);
  for (int l = 0; l <= map.domain_level(); ++l) {
    Range const set = map.around(l, first);
    append(done.end, set.end);
    append(set.begin, done.begin);
    done = set;
  }

  int const domains = map.domain_level();
  std::size_t const members = static_cast<std::size_t>(team.count());
  if (order.size() == members) return order;
  std::vector<char> visited(static_cast<std::size_t>(map.domains()));
  for (int at = map.set_of(domains, first); order.size() < members;) {
    visited[static_cast<std::size_t>(at)] = 1;
    for (std::size_t d : map.domains_from(at)) {
      Range const set = map.set(domains, static_cast<int>(d));
      if (visited[d] != 0 || team.next(set.begin, set.end) == set.end) continue;
      append(set.begin, set.end);
      at = static_cast<int>(d);
      break;
    }
  }
  return order;
}

// How far apart the threads of a team are (the paper's three sums), thread i on positions[i].
struct TeamDistance {
  double total = 0;     // of all pairs
  double weighted = 0;  // of all pairs, each divided by the difference of the threads' numbers
  double local = 0;     // of each thread and the next
};

inline TeamDistance team_distance(CoreMap const& map, std::span<int const> positions) {
  TeamDistance sum;
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (std::size_t j = i + 1; j < positions.size(); ++j) {
      double const d = map.distance(positions[i], positions[j]);
      sum.total += d;
      sum.weighted += d / static_cast<double>(j - i);
      if (j == i + 1) sum.local += d;
    }
  return sum;
}

// Chooses cpus one core set after the other, so that free cpus stay together, too.
//
// The paper on topology-aware OpenMP process scheduling: when a team needs a further core set,
// prefer (1) one with exactly as many free cpus as are still required, (2) one with more, (3) an
// empty one, that is, one that nobody uses yet; the nearest first among equals. When none has
// enough, use up the one with the most, and go on for the rest.

// How many cpus to choose; adjusting may end anywhere from `low` to `high` if that leaves no gap.
struct ClusterSize {
  int wanted = 0;
  int low = 0;
  int high = 0;
};

class CoreCluster {
 public:
  // `free` holds at least as many cpus as will be wanted. Place: of the requester, -1 when unknown.
  CoreCluster(CoreMap const& map, PositionSet free, int place)
      : map_(map), free_(std::move(free)), chosen_(map.size()), place_(place) {}

  PositionSet const& chosen() const noexcept { return chosen_; }

  // The cpus of the place's core set, then those of the others in the next larger one, and so on;
  // in other domains, nearest first.
  void choose_nearest(int wanted) {
    needed_ = wanted;
    int const at = place_ >= 0 ? place_ : free_.next(0, map_.size());
    take_place();
    int const domains = map_.domain_level();
    for (int l = 0; l <= domains && needed_ > 0; ++l) take(map_.around(l, at));
    for (int d : map_.domains_from(map_.set_of(domains, at))) {
      if (needed_ == 0) break;
      take(map_.set(domains, d));
    }
  }

  // The lowest-numbered ones.
  void choose_first(int wanted) {
    needed_ = wanted;
    take_place();
    take({0, map_.size()});
  }

  void choose_clustered(ClusterSize size) {
    needed_ = size.wanted;
    fewer_ = size.wanted - size.low;
    more_ = size.high - size.wanted;
    int const top = map_.levels() - 1;
    if (!free_.has(place_)) {  // the leader moves anyway
      choose_among(map_.around(top, 0), top - 1);
      return;
    }
    // A team that has begun in a set uses it up before it touches another.
    for (int l = 0; l <= top; ++l) {
      Range const set = map_.around(l, place_);
      int const there = free_.count(set);
      if (fits(there)) {
        take_all(set, there);
        return;
      }
      if (there < needed_ && l < top) continue;
      take_place();
      if (l == 0) {
        take(set);
        return;
      }
      Range const inner = map_.around(l - 1, place_);
      take(inner);
      choose_among(set, l - 1);
      return;
    }
  }

 private:
  struct Candidate {
    Range set;
    int free;
  };

  // May the team end with n cpus instead of needed_?
  bool fits(int n) const noexcept { return n >= needed_ - fewer_ && n <= needed_ + more_ && n > 0; }

  void take_place() {
    if (!free_.has(place_) || needed_ == 0) return;
    move(place_);
    --needed_;
  }

  // As many as needed, one cpu of each core first.
  void take(Range set) {
    if (needed_ < free_.count(set)) take_some(set, true);
    take_some(set, false);
  }
  void take_all(Range set, int there) {
    needed_ = there;
    take_some(set, false);
    needed_ = 0;
  }
  void take_some(Range set, bool one_of_each_core) {
    for (int p = free_.next(set.begin, set.end); p < set.end && needed_ > 0;
         p = free_.next(p + 1, set.end)) {
      if (one_of_each_core && !map_.first_of_core().has(p)) continue;
      move(p);
      --needed_;
    }
  }
  void move(int p) {
    free_.remove(p);
    chosen_.add(p);
  }

  // The rest from the sets of this level that lie within `parent`.
  void choose_among(Range parent, int level) {
    if (level < 0) {
      take(parent);
      return;
    }
    list_candidates(parent, level);
    while (needed_ > 0) {
      Candidate const* const next = preferred();
      if (next == nullptr) return;
      Candidate const chosen = *next;
      // With so few missing, the team opens no further set.
      if (!chosen_.empty() && needed_ <= fewer_) return;
      if (fits(chosen.free)) {
        take_all(chosen.set, chosen.free);
      } else if (chosen.free <= needed_) {
        take(chosen.set);
        candidates_.erase(candidates_.begin() + (next - candidates_.data()));
      } else {
        choose_among(chosen.set, level - 1);
        return;
      }
    }
  }

  Candidate const* preferred() const noexcept {
    Candidate const *fitting = nullptr, *partial = nullptr, *empty = nullptr, *largest = nullptr;
    auto const gap = [&](Candidate const& c) {
      return std::max(c.free - needed_, needed_ - c.free);
    };
    for (Candidate const& c : candidates_) {
      if (fits(c.free) && (fitting == nullptr || gap(c) < gap(*fitting))) fitting = &c;
      if (c.free > needed_ && c.free < c.set.size() &&
          (partial == nullptr || c.free < partial->free))
        partial = &c;
      if (c.free > needed_ && empty == nullptr && c.free == c.set.size()) empty = &c;
      // Of two equal sets, the emptier is better: it is used up, and the other is broken into last.
      if (largest == nullptr || c.free > largest->free ||
          (c.free == largest->free && c.set.size() < largest->set.size()))
        largest = &c;
    }
    if (fitting != nullptr) return fitting;
    if (partial != nullptr) return partial;
    return empty != nullptr ? empty : largest;
  }

  // Nearest first: sets of the place's domain, then by distance from it.
  void list_candidates(Range parent, int level) {
    candidates_.clear();
    auto const add = [&](int s) {
      Range const set = map_.set(level, s);
      if (int const there = free_.count(set); there > 0) candidates_.push_back({set, there});
    };
    int const domains = map_.domain_level();
    if (level < domains) {
      for (int p = parent.begin; p < parent.end; p = map_.around(level, p).end)
        add(map_.set_of(level, p));
      return;
    }
    int const from = place_ >= 0 ? map_.set_of(domains, place_) : 0;
    listed_.assign(static_cast<std::size_t>(map_.sets(level)), 0);
    for (int d : map_.domains_from(from)) {
      int const p = map_.set(domains, d).begin;
      int const s = map_.set_of(level, p);
      if (!parent.has(p) || listed_[static_cast<std::size_t>(s)] != 0) continue;
      listed_[static_cast<std::size_t>(s)] = 1;
      add(s);
    }
  }

  CoreMap const& map_;
  PositionSet free_;
  PositionSet chosen_;
  int place_;
  int needed_ = 0;  // still to be chosen
  int fewer_ = 0;   // the team may stay this much below, or grow this much above
  int more_ = 0;    //
  std::vector<Candidate> candidates_;
  std::vector<char> listed_;
};

enum class CoreAllocation : std::uint8_t {
  simple,               // the first that are free
  nearest,              // nearest to the requester
  clustered,            // core set by core set, leaving the others whole
  clustered_adjusting,  // the same; a few more or fewer, if that closes a gap
};

inline constexpr std::array<std::string_view, 4> core_allocation_names{
    "simple", "nearest", "clustered", "clustered-adjusting"};

constexpr std::string_view to_string(CoreAllocation a) noexcept {
  return core_allocation_names[static_cast<std::size_t>(a)];
}
constexpr std::optional<CoreAllocation> core_allocation_from_string(
    std::string_view name) noexcept {
  return choice_named<CoreAllocation>(core_allocation_names, name);
}
static_assert(core_allocation_from_string(to_string(CoreAllocation::clustered_adjusting)) ==
              CoreAllocation::clustered_adjusting);

struct CoreAllocationOptions {
  CoreAllocation how = CoreAllocation::clustered_adjusting;
  Scarcity scarcity{};
  int adjust_percent = 10;  // of N, by which adjusting may change it; one cpu at least
};

// The request of a program's region.
struct CoreRequest {
  ThreadDemand demand;
  int place = -1;      // position its leader runs at, -1: unknown
  int attainable = 0;  // cpus it can hope for; 0: all of the machine
};

struct CoreDecision {
  int wanted = 0;              // N
  std::vector<int> positions;  // of the threads, leader first; empty: wait

  bool waits() const noexcept { return positions.empty(); }
  bool operator==(CoreDecision const&) const = default;
};

// How far adjusting may go: never beyond what the region can use or what is free, and, when others
// wait, never to their disadvantage.
constexpr ClusterSize cluster_size(int granted, int fewest, ThreadDemand d, ThreadSupply s,
                                   int adjust_percent) noexcept {
  int const slack = std::max(1, granted * adjust_percent / 100);
  int const high = s.waiting > 0 ? granted : std::min({granted + slack, d.maximum, s.free});
  return {granted, std::min(granted, std::max(fewest, granted - slack)), std::max(granted, high)};
}
static_assert(cluster_size(8, 1, {16, 8}, {32, 32}, 25).low == 6);
static_assert(cluster_size(8, 1, {9, 8}, {32, 32}, 25).high == 9);
static_assert(cluster_size(8, 8, {16, 8}, {32, 32, 1}, 25).high == 8);
static_assert(cluster_size(1, 1, {1, 1}, {32, 32}, 25).low == 1);

// `free`: cpus this program may be given now. `waiting`: other requests that want them.
inline CoreDecision decide(CoreMap const& map, CoreAllocationOptions const& options,
                           PositionSet const& free, CoreRequest const& request, int waiting = 0) {
  ThreadDemand const& demand = request.demand;
  NIGH_ASSERT(1 <= demand.optimal && demand.optimal <= demand.maximum, "a demand is in order");
  NIGH_ASSERT(free.size() == map.size() && request.place < map.size(), "sets of this machine");
  ThreadSupply const supply{free.count(), map.size(), waiting};
  int const fewest = fewest_threads(
      demand, request.attainable > 0 ? request.attainable : map.size(), options.scarcity);
  auto const [wanted, granted] = thread_count(demand, supply, fewest);
  if (granted == 0) return {wanted, {}};

  CoreCluster cluster(map, free, request.place);
  switch (options.how) {
    case CoreAllocation::simple:
      cluster.choose_first(granted);
      break;
    case CoreAllocation::nearest:
      cluster.choose_nearest(granted);
      break;
    case CoreAllocation::clustered:
      cluster.choose_clustered({granted, granted, granted});
      break;
    case CoreAllocation::clustered_adjusting:
      cluster.choose_clustered(
          cluster_size(granted, fewest, demand, supply, options.adjust_percent));
      break;
  }
  return {wanted, team_order(map, cluster.chosen(), request.place)};
}

}  // namespace nigh::policy
