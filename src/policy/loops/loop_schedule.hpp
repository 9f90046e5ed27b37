// SPDX-License-Identifier: Apache-2.0
#pragma once
// LoopSchedule: which worker takes which iterations of a loop, from which span, and how many at
// once?
//
// A loop has *steps* (iterations, or blocks of them), which lie in *spans*: one that all share, or
// one for each worker. A span is a run of *units*, numbered within 32 bits; a unit is one step, or
// as many as a chunk has. The span's owner takes units from the front, helpers from the back. A
// schedule decides this, and nothing else:
//
//                  spans  unit   owner takes        helper takes   numbering of units
//   static blocks  w      step   all                all            as steps
//   static chunks  w      chunk  all                all            span's own: every w-th chunk
//   dynamic        1      chunk  one                               as chunks
//   guided         1      chunk  a share of a half                 as chunks
//   adaptive       w      step   an eighth          half           as steps
//   local          w      step   an eighth          half           domain by domain
//
// Of the last two, nobody takes less than the smallest piece, a step unless said otherwise.
//
// A helper of adaptive and local puts the units it takes into its own span, where others may help
// it. No helper sees a static span that is half begun: all of it belongs to a worker that has not
// come.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nigh/schedule.hpp>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

// Which iterations belong to which domain, by an array's placement. The iterations of one domain
// are numbered without gaps, so that they can be divided like any range.

class LocalMap {
 public:
  // Iterations [begin, end) of a domain.
  struct Run {
    std::size_t begin = 0;
    std::size_t end = 0;
    int domain = 0;
  };
  static constexpr std::size_t everything_else = std::numeric_limits<std::size_t>::max();

  // The runs begin at 0 and follow each other without gaps, except that a run may be empty; the
  // last one that is not empty also has all iterations after it.
  explicit LocalMap(std::vector<Run> runs) {
    while (!runs.empty() && runs.back().begin == runs.back().end) runs.pop_back();
    if (runs.empty()) runs.push_back({});
    runs.back().end = everything_else;
    for (Run const& run : runs) {
      if (run.begin == run.end) continue;
      auto const d = static_cast<std::size_t>(run.domain);
      if (d >= domains_.size()) domains_.resize(d + 1);
      append(domains_[d], run.begin, run.end);
    }
    for (auto& pieces : domains_) finish(pieces);
  }

  int domains() const noexcept { return static_cast<int>(domains_.size()); }

  // How many of this domain's iterations come before iteration i.
  std::size_t before(int domain, std::size_t i) const noexcept {
    auto const& pieces = of(domain);
    auto const next = std::upper_bound(pieces.begin(), pieces.end(), i,
                                       [](std::size_t at, Piece const& p) { return at < p.begin; });
    if (next == pieces.begin()) return 0;
    auto const& here = *(next - 1);
    return std::min(here.rank + (i - here.begin), next == pieces.end() ? here.rank : next->rank);
  }

  // Its n-th iteration, and where the gap after it begins.
  std::pair<std::size_t, std::size_t> at(int domain, std::size_t n) const noexcept {
    auto const& pieces = of(domain);
    auto const next = std::upper_bound(pieces.begin(), pieces.end(), n,
                                       [](std::size_t at, Piece const& p) { return at < p.rank; });
    NIGH_ASSERT(next != pieces.begin() && next != pieces.end(), "the domain has so many");
    auto const& here = *(next - 1);
    return {here.begin + (n - here.rank), here.begin + (next->rank - here.rank)};
  }

  // The same for a loop that begins at `first` and whose steps are `grain` iterations each: a step
  // belongs to the domain of its first iteration.
  LocalMap in_steps(std::size_t first, std::size_t grain) const {
    auto const step = [&](std::size_t i) {
      if (i == everything_else) return i;
      return i <= first ? 0 : (i - first - 1) / grain + 1;
    };
    LocalMap scaled;
    for (auto const& pieces : domains_) {
      scaled.domains_.emplace_back();
      for (std::size_t p = 0; p + 1 < pieces.size(); ++p) {
        auto const end = pieces[p].begin + (pieces[p + 1].rank - pieces[p].rank);
        if (step(pieces[p].begin) < step(end))
          append(scaled.domains_.back(), step(pieces[p].begin), step(end));
      }
      finish(scaled.domains_.back());
    }
    return scaled;
  }

 private:
  // `rank` of the domain's iterations come before it. The last entry of a domain marks the end, and
  // holds none.
  struct Piece {
    std::size_t begin = 0;
    std::size_t rank = 0;
  };

  LocalMap() = default;
  std::vector<Piece> const& of(int domain) const noexcept {
    return domains_[static_cast<std::size_t>(domain)];
  }
  static void append(std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
    std::size_t rank = 0;
    if (!pieces.empty()) {
      Piece& mark = pieces.back();
      rank = mark.rank;
      if (mark.begin == begin) {
        mark = {end, rank + (end - begin)};
        return;
      }
      pieces.pop_back();
    }
    pieces.push_back({begin, rank});
    pieces.push_back({end, rank + (end - begin)});
  }
  static void finish(std::vector<Piece>& pieces) {
    if (pieces.empty()) pieces.push_back({everything_else, 0});
  }

  std::vector<std::vector<Piece>> domains_;
};

// The workers that may run a loop, and their places. A home is a domain that has workers.
struct LoopWorkers {
  std::vector<int> home_of;         // [worker]
  std::vector<int> rank_of;         // [worker]: among its home's workers
  std::vector<int> workers_at;      // [home]: how many
  std::vector<int> home_of_domain;  // [domain]: nearest home

  int workers() const noexcept { return static_cast<int>(home_of.size()); }
  int homes() const noexcept { return static_cast<int>(workers_at.size()); }
};

struct Units {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t count() const noexcept { return end - begin; }
  bool empty() const noexcept { return begin >= end; }
  bool operator==(Units const&) const = default;
};

// How many parts of `size` there are in n, the last one perhaps smaller. Most loops have parts of
// one, and a division costs as much as all other decisions about a short loop.
constexpr std::size_t parts_of(std::size_t n, std::size_t size) noexcept {
  return size == 1 ? n : n / size + (n % size != 0);
}

struct Steps {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(Steps const&) const = default;
};

// Units that a worker has taken and not yet run.
struct Hand {
  Units units;
  int origin = 0;         // the span they came from
  std::size_t begun = 0;  // how many steps of the first unit have been run
};

class alignas(64) LoopSchedule {  // what is read most lies in its first cache line
 public:
  static constexpr std::size_t most_units = std::size_t{1} << 31;
  static constexpr std::uint32_t pieces_of_share = 64;

  // `chunk` in steps, at least 1. The map is of steps, `first` the one at which the loop begins.
  // The workers and the map must outlive it. Allocates only for maps of more than a few domains.
  LoopSchedule(schedule_kind kind, std::size_t chunk, std::size_t steps,
               LoopWorkers const& loop_workers, LocalMap const* map = nullptr,
               std::size_t first = 0)
      : loop_workers_(&loop_workers), steps_(steps), first_(first), kind_(kind) {
    bool const by_chunks = kind == schedule_kind::static_chunks || kind == schedule_kind::dynamic ||
                           kind == schedule_kind::guided;
    unit_ = std::max(by_chunks ? chunk : 1, steps / most_units + 1);
    bool const in_map = steps <= LocalMap::everything_else - first;  // else it began below 0
    if (kind == schedule_kind::local && map != nullptr && in_map && loop_workers.homes() > 1)
      lay_out(*map);
    else
      units_ = units_in(steps);
  }

  // How many workers could find something to do at once?
  int useful_workers() const noexcept {
    return static_cast<int>(
        std::min<std::size_t>(units_, static_cast<std::size_t>(loop_workers_->workers())));
  }
  // Iterations are alike and short: pieces have at least a 64th of a worker's share.
  void expect_alike() noexcept {
    smallest_ = std::max(
        1u, units_ / pieces_of_share / static_cast<std::uint32_t>(loop_workers_->workers()));
  }
  std::uint32_t units() const noexcept { return units_; }
  int workers() const noexcept { return loop_workers_->workers(); }
  int spans() const noexcept { return is_shared() ? 1 : loop_workers_->workers(); }
  int span_of(int worker) const noexcept { return is_shared() ? 0 : worker; }

  // The units of a span at the beginning.
  Units units_of(int span) const noexcept {
    auto const workers = static_cast<std::uint32_t>(loop_workers_->workers());
    auto const w = static_cast<std::uint32_t>(span);
    switch (kind_) {
      case schedule_kind::dynamic:
      case schedule_kind::guided:
        return {0, units_};
      case schedule_kind::static_chunks:
        return {0, units_ > w ? (units_ - w - 1) / workers + 1 : 0};
      case schedule_kind::static_blocks:
      case schedule_kind::adaptive:
        return share({0, units_}, workers, w);
      case schedule_kind::local:
        break;
    }
    auto const home = loop_workers_->home_of[w];
    return share(units_at(home), static_cast<std::uint32_t>(at(loop_workers_->workers_at, home)),
                 static_cast<std::uint32_t>(loop_workers_->rank_of[w]));
  }

  // Of `left` units, at least one.
  std::uint32_t owner_takes(std::uint32_t left) const noexcept {
    switch (kind_) {
      case schedule_kind::static_blocks:
      case schedule_kind::static_chunks:
        return left;
      case schedule_kind::dynamic:
        return 1;
      case schedule_kind::guided:
        return std::max(left / (2 * static_cast<std::uint32_t>(loop_workers_->workers())), 1u);
      case schedule_kind::adaptive:
      case schedule_kind::local:
        break;
    }
    return std::max(left / 8, std::min(left, smallest_));
  }
  std::uint32_t helper_takes(std::uint32_t left) const noexcept {
    return splits() ? std::max(left - left / 2, std::min(left, smallest_)) : left;
  }
  // Does a helper put the units that it does not begin at once into its own span?
  bool splits() const noexcept {
    return kind_ == schedule_kind::adaptive || kind_ == schedule_kind::local;
  }

  // Takes the first steps off a hand that is not empty: as many as follow each other.
  Steps take_steps(Hand& hand) const noexcept {
    if (kind_ == schedule_kind::static_chunks) {
      auto const chunk =
          std::size_t{hand.units.begin++} * static_cast<std::size_t>(loop_workers_->workers()) +
          static_cast<std::size_t>(hand.origin);
      return {chunk * unit_, end_of(chunk + 1)};
    }
    if (blocks_ > 0) return take_mapped(hand);
    Steps const all{std::size_t{hand.units.begin} * unit_, end_of(hand.units.end)};
    hand.units.begin = hand.units.end;
    return all;
  }

 private:
  // The part of a home's units that one domain has.
  struct Block {
    std::uint32_t begin;  // first unit
    std::uint32_t end;
    std::size_t rank;   // its first step, counted among the domain's
    std::size_t steps;  //
    int domain;
    int home;
  };

  static int at(std::vector<int> const& v, int i) noexcept {
    return v[static_cast<std::size_t>(i)];
  }
  bool is_shared() const noexcept {
    return kind_ == schedule_kind::dynamic || kind_ == schedule_kind::guided;
  }
  std::uint32_t units_in(std::size_t steps) const noexcept {
    return static_cast<std::uint32_t>(parts_of(steps, unit_));
  }
  std::size_t end_of(std::size_t units) const noexcept {
    return units >= units_ ? steps_ : units * unit_;
  }
  // The first ones get one more when the division leaves a rest.
  static Units share(Units all, std::uint32_t parts, std::uint32_t part) noexcept {
    auto const each = all.count() / parts, more = all.count() % parts;
    auto const begin = all.begin + part * each + std::min(part, more);
    return {begin, begin + each + (part < more ? 1 : 0)};
  }

  Units units_at(int home) const noexcept {
    if (blocks_ == 0)
      return share({0, units_}, static_cast<std::uint32_t>(loop_workers_->homes()),
                   static_cast<std::uint32_t>(home));
    Units all;
    for (Block const& b : blocks())
      if (b.home == home) all = {all.empty() ? b.begin : all.begin, b.end};
    return all;
  }

  // Numbers the units home by home.
  void lay_out(LocalMap const& map) {
    map_ = &map;
    auto const domains = static_cast<std::size_t>(map.domains());
    if (domains > few_.size()) many_.resize(domains);
    for (int home = 0; home < loop_workers_->homes(); ++home)
      for (int d = 0; d < map.domains(); ++d) {
        // Domains that the loop's machine does not have are as good as any.
        auto const known = static_cast<std::size_t>(d) < loop_workers_->home_of_domain.size();
        if ((known ? at(loop_workers_->home_of_domain, d) : 0) != home) continue;
        auto const rank = map.before(d, first_);
        auto const steps = map.before(d, first_ + steps_) - rank;
        auto const end = units_ + units_in(steps);
        (many_.empty() ? few_[blocks_] : many_[blocks_]) = {units_, end, rank, steps, d, home};
        units_ = end;
        ++blocks_;
      }
  }
  struct Blocks {
    Block const* first;
    std::size_t count;
    Block const* begin() const noexcept { return first; }
    Block const* end() const noexcept { return first + count; }
  };
  Blocks blocks() const noexcept { return {many_.empty() ? few_.data() : many_.data(), blocks_}; }

  Steps take_mapped(Hand& hand) const noexcept {
    for (Block const& b : blocks()) {
      if (hand.units.begin >= b.end) continue;
      auto const last = std::min(hand.units.end, b.end);
      auto const from = std::size_t{hand.units.begin - b.begin} * unit_ + hand.begun;
      auto const to = last == b.end ? b.steps : std::size_t{last - b.begin} * unit_;
      auto const [step, gap] = map_->at(b.domain, b.rank + from);
      auto const count = std::min(gap - step, to - from);
      hand.units.begin =
          from + count == to ? last : b.begin + static_cast<std::uint32_t>((from + count) / unit_);
      hand.begun = from + count == to ? 0 : (from + count) % unit_;
      return {step - first_, step - first_ + count};
    }
    NIGH_ASSERT(false, "units in a hand belong to a block");
    return {};
  }

  LoopWorkers const* loop_workers_;
  LocalMap const* map_ = nullptr;
  std::size_t steps_;
  std::size_t first_;
  std::size_t unit_ = 1;  // steps in one
  std::uint32_t units_ = 0;
  std::uint32_t smallest_ = 1;
  schedule_kind kind_;
  std::size_t blocks_ = 0;  // none: units are numbered as steps or chunks are
  std::array<Block, 8> few_;
  std::vector<Block> many_;
};

}  // namespace nigh::policy
