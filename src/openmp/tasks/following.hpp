// SPDX-License-Identifier: Apache-2.0
#pragma once
// The threads of a team follow it to other cpus, each when it comes by.
//
//   leader    changes where the threads should be, then counts the change; again only when all
//             others have followed
//   follower  sees the count, goes there, and says that it has
//
// (following.C) A follower that sees the count sees the change.
// (following.F) A leader that sees that all have followed changes nothing that one of them reads.
// A sleeper misses no change by (sleeper.S).

#include <cstdint>

#include "base/atomic.hpp"

namespace nigh::openmp::tasks {

class Follower {
 public:
  void begin() noexcept { followed_.store(0, sync::relaxed); }
  bool has_followed(std::uint32_t change) const noexcept {
    return followed_.load(sync::acquire) == change;  // (following.F)
  }
  // Its own thread.
  bool is_behind(std::uint32_t change) const noexcept {
    return followed_.load(sync::relaxed) != change;
  }
  void follow(std::uint32_t change) noexcept {
    followed_.store(change, sync::release);  // (following.F)
  }

 private:
  sync::atomic<std::uint32_t> followed_{0};
};

class Changes {
 public:
  std::uint32_t count() const noexcept { return count_.load(sync::acquire); }  // (following.C)
  // For a thread that goes to sleep unless there is a new one.
  std::uint32_t count_before_sleep() const noexcept {
    return count_.load(sync::seq_cst);  // (sleeper.S)
  }
  // The leader.
  void add() noexcept {
    count_.store(count_.load(sync::relaxed) + 1, sync::seq_cst);  // (following.C) (sleeper.S)
  }

 private:
  sync::atomic<std::uint32_t> count_{0};
};

}  // namespace nigh::openmp::tasks
