// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is known of programs' regions, kept from one of their runs to the next by whoever drives the
// server. Writing may take long, so it waits until there is nothing else to do.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

struct KnownProgram {
  std::string name;
  std::string path;          // empty: not known
  std::uint64_t binary = 0;  // by which it is known again
  unsigned user = 0;
};

// Without these, nothing is kept.
struct Keeper {
  std::function<std::vector<KnownRegion>(KnownProgram const&)> recall{};
  std::function<void(KnownProgram const&, std::vector<KnownRegion> const&)> remember{};
};

class RegionMemory {
 public:
  explicit RegionMemory(Keeper keeper) : keeper_(std::move(keeper)) {}

  std::vector<KnownRegion> recall(KnownProgram const& program) {
    if (!keeper_.recall || program.binary == 0) return {};
    for (auto it = pending_.begin(); it != pending_.end();)
      if (it->first.binary == program.binary && it->first.user == program.user) {
        keeper_.remember(it->first, it->second);
        it = pending_.erase(it);
      } else {
        ++it;
      }
    return keeper_.recall(program);
  }

  void remember(KnownProgram program, std::vector<KnownRegion> regions) {
    if (!keeper_.remember || program.binary == 0) return;
    pending_.emplace_back(std::move(program), std::move(regions));
    if (pending_.size() > most_pending) write_one();
  }

  bool is_behind() const noexcept { return !pending_.empty(); }
  void write_one() {
    keeper_.remember(pending_.front().first, pending_.front().second);
    pending_.pop_front();
  }
  void write_all() {
    while (is_behind()) write_one();
  }

 private:
  static constexpr std::size_t most_pending = 64;

  Keeper keeper_;
  std::deque<std::pair<KnownProgram, std::vector<KnownRegion>>> pending_;
};

}  // namespace nigh::coordinator
