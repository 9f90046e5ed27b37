// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many lines of a kind may the log get in a second? Further ones are counted.

#include <cstdint>
#include <optional>
#include <utility>

#include "coordinator/core/coordinator.hpp"

namespace nigh::coordinator {

class LineRate {
 public:
  static constexpr Time window_us = 1'000'000;
  explicit constexpr LineRate(int most) noexcept : most_(most) {}

  // Counts the line if it may not be written.
  constexpr bool may_say(Time now) noexcept {
    if (!ends_ || *ends_ <= now) ends_ = now + window_us, said_ = 0;
    if (said_ == most_) return ++unsaid_, false;
    return ++said_, true;
  }
  // When the count of unwritten lines is due; nothing: all were written.
  constexpr std::optional<Time> due() const noexcept { return unsaid_ > 0 ? ends_ : std::nullopt; }
  constexpr std::uint64_t take_unsaid() noexcept { return std::exchange(unsaid_, 0); }

 private:
  int most_;
  int said_ = 0;
  std::uint64_t unsaid_ = 0;
  std::optional<Time> ends_{};  // the second in which `said_` were
};

}  // namespace nigh::coordinator
