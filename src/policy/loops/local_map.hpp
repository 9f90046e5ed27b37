// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which iterations belong to which domain, by an array's placement. The iterations of one domain
// are numbered without gaps, so that they can be divided like any range.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

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

}  // namespace nigh::policy
