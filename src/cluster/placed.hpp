// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks that this rank has put at others and whose results are not back. So many at a time for each
// rank, and no more: what is on its way, or waits there, is bounded.

#include <cstdint>
#include <mutex>
#include <nigh/cluster.hpp>
#include <optional>
#include <vector>

#include "base/assert.hpp"
#include "cluster/wire.hpp"
#include "runtime/lock.hpp"

namespace nigh::cluster {

class PlacedTasks {
 public:
  // Tells these tokens from those of slots, and from the root's.
  static constexpr Token mark = Token{1} << 63;
  static bool owns(Token t) noexcept { return (t & mark) != 0; }

  PlacedTasks(int ranks, std::size_t capacity)
      : capacity_(capacity), at_(static_cast<std::size_t>(ranks)) {}

  std::optional<Token> add(int rank, detail::placed const& task) {
    std::lock_guard const guard(lock_);
    auto& waiting = at_[static_cast<std::size_t>(rank)];
    if (waiting >= capacity_) {
      ++refused_;
      return {};
    }
    ++waiting;
    ++count_;
    if (free_.empty()) {
      free_.push_back(entries_.size());
      entries_.emplace_back();
    }
    auto const index = free_.back();
    free_.pop_back();
    entries_[index] = {task, rank};
    return mark | index;
  }

  detail::placed remove(Token token) {
    std::lock_guard const guard(lock_);
    auto const index = static_cast<std::size_t>(token & ~mark);
    NIGH_ASSERT(index < entries_.size() && entries_[index].rank >= 0, "a result comes once");
    auto const entry = entries_[index];
    entries_[index].rank = -1;
    free_.push_back(index);
    --at_[static_cast<std::size_t>(entry.rank)];
    return entry.task;
  }

  std::uint64_t count() {
    std::lock_guard const guard(lock_);
    return count_;
  }
  std::uint64_t refused() {
    std::lock_guard const guard(lock_);
    return refused_;
  }

 private:
  struct Entry {
    detail::placed task{};
    int rank = -1;  // -1: free
  };
  tasks::Lock lock_;
  std::size_t const capacity_;
  std::vector<std::size_t> at_;  // [rank]: how many
  std::vector<Entry> entries_;
  std::vector<std::size_t> free_;
  std::uint64_t count_ = 0;  // that have ever been placed, and refused
  std::uint64_t refused_ = 0;
};

}  // namespace nigh::cluster
