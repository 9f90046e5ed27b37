// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long may this process read files of other users' programs? However many programs they have,
// and however often they change them.

#include <algorithm>
#include <chrono>

namespace nigh::cli {

// Decides on times that are arguments.
class OthersTime {
 public:
  using Clock = std::chrono::steady_clock;

  explicit OthersTime(Clock::time_point now) : last_(now) {}

  // All 2 s at first; each second adds a tenth of one, up to 2 s again. Zero after three programs
  // whose files cost more than allowed.
  std::chrono::milliseconds left(Clock::time_point now) {
    left_ = std::min<Clock::duration>(most, left_ + (now - last_) / 10);
    last_ = now;
    if (failed_ >= most_failed) return {};
    return std::max(std::chrono::floor<std::chrono::milliseconds>(left_),
                    std::chrono::milliseconds());
  }
  void spend(Clock::duration time) { left_ -= time; }
  void count_failure() { ++failed_; }

 private:
  static constexpr std::chrono::seconds most{2};
  static constexpr int most_failed = 3;

  Clock::time_point last_;
  Clock::duration left_ = most;
  int failed_ = 0;
};

}  // namespace nigh::cli
