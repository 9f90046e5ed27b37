// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verdicts on runs, kept by every rank for the case that it becomes the root: the root may have been lost in the
// midst of telling them. Only the newest matter: a rank that is in run n knows all verdicts before n.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "cluster/transport.hpp"

namespace nigh::cluster {

class Verdicts {
 public:
  explicit Verdicts(int ranks) : begun_(static_cast<std::size_t>(ranks), 1) {}

  // That rank, perhaps this one, has begun that run.
  void has_begun(int rank, std::uint32_t run) noexcept {
    auto& begun = begun_[static_cast<std::size_t>(rank)];
    begun = std::max(begun, run);
  }
  // The first run whose verdict one of these ranks may not know. Exact on the root alone, which hears all.
  std::uint32_t first_needed(std::vector<int> const& ranks) const noexcept {
    auto first = begun_[static_cast<std::size_t>(ranks.front())];
    for (int const r : ranks) first = std::min(first, begun_[static_cast<std::size_t>(r)]);
    return first;
  }

  void keep(std::uint32_t run, byte_view message) {
    kept_.push_back({run, bytes(message.begin(), message.end())});
  }
  void forget_before(std::uint32_t run) {
    while (!kept_.empty() && kept_.front().run < run) kept_.pop_front();
  }

  struct Verdict {
    std::uint32_t run;
    bytes message;  // as the root told it
  };
  std::deque<Verdict> const& kept() const noexcept { return kept_; }  // oldest first

 private:
  std::vector<std::uint32_t> begun_;  // [rank]
  std::deque<Verdict> kept_;
};

}  // namespace nigh::cluster
