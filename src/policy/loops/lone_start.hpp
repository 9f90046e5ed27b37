// SPDX-License-Identifier: Apache-2.0
#pragma once
// LoneStart: when all others would have to be woken, how much of a loop does its owner run alone
// before it wakes them?
//
// Waking one costs the caller 2 to 15 us (a system call, and in a virtual machine an exit), and the
// woken thread is there some 10 us later. A loop that is over sooner has only paid. So the owner
// begins with small pieces, each at most a half of what it has run before, and from their time says
// how long the rest takes; not within the first 2 us, in which cold caches would pass for work. The
// first piece is at most a 32nd of the owner's share: where iterations take long, the others begin
// that much later. Loops of more than 4 us that follow each other closely are worth waking for, too:
// whoever comes too late for this one is there for the next.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

// The time that a thread has spent lately in loops that it ran alone.
class LoneStreak {
 public:
  static constexpr std::int64_t short_loop_ns = 4'000, longest_gap_ns = 200'000;

  constexpr std::int64_t spent_ns(std::int64_t now_ns) const noexcept {
    return now_ns - ended_ns_ <= longest_gap_ns ? spent_ns_ : 0;
  }
  constexpr void add(std::int64_t began_ns, std::int64_t now_ns) noexcept {
    if (now_ns - began_ns < short_loop_ns) return;
    spent_ns_ = spent_ns(began_ns) + (now_ns - began_ns);
    ended_ns_ = now_ns;
  }

 private:
  std::int64_t ended_ns_ = -longest_gap_ns - 1, spent_ns_ = 0;
};

class LoneStart {
 public:
  static constexpr std::uint32_t pieces_of_share = 64, least_share = 32;
  static constexpr std::int64_t worth_asking_ns = 2'000, worth_waking_ns = 20'000;
  static constexpr std::int64_t long_streak_ns = 50'000;

  static constexpr bool is_possible(std::uint32_t units, int workers) noexcept {
    return units / least_share >= static_cast<std::uint32_t>(workers);
  }
  constexpr LoneStart(std::uint32_t units, int workers) noexcept
      : left_(units),
        first_(std::max(1u, units / pieces_of_share / static_cast<std::uint32_t>(workers))) {}

  // At most so many units now. `took` of them are in hand.
  constexpr std::uint32_t piece() const noexcept { return std::max(first_, done_ / 2); }
  constexpr void take(std::uint32_t took) noexcept {
    done_ += took;
    left_ -= took;
  }
  // All that was taken has been run, since `elapsed_ns` ago; the loops before took `streak_ns`.
  constexpr bool wakes(std::int64_t elapsed_ns, std::int64_t streak_ns) const noexcept {
    if (done_ == 0) return false;
    auto const elapsed = static_cast<double>(elapsed_ns);
    if (streak_ns >= long_streak_ns)
      return elapsed_ns >= worth_asking_ns / 4 &&
             elapsed * (done_ + left_) > static_cast<double>(LoneStreak::short_loop_ns) * done_;
    return elapsed_ns >= worth_asking_ns &&
           elapsed * left_ > static_cast<double>(worth_waking_ns) * done_;
  }

 private:
  std::uint32_t left_, done_ = 0;
  std::uint32_t first_;
};

}  // namespace nigh::policy
