// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses cpus one core set after the other, so that free cpus stay together, too.
//
// The paper on topology-aware OpenMP process scheduling: when a team needs a further core set,
// prefer (1) one with exactly as many free cpus as are still required, (2) one with more, (3) an
// empty one, that is, one that nobody uses yet; the nearest first among equals. When none has
// enough, use up the one with the most, and go on for the rest.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "policy/cpus/core_map.hpp"
#include "policy/cpus/position_set.hpp"

namespace nigh::policy {

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

}  // namespace nigh::policy
