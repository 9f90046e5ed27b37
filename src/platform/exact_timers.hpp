// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sleeping for so long and no longer. Linux lets a thread sleep some 50 us more than it asked for,
// so that it need not set a timer for each.

namespace nigh::platform {

// While one lives, its thread's sleeps end on time.
class ExactTimers {
 public:
  ExactTimers() noexcept;
  ~ExactTimers();
  ExactTimers(ExactTimers&&) = delete;
  ExactTimers& operator=(ExactTimers&&) = delete;

 private:
  int const slack_ns_;  // before; 0 or less: unknown, or as exact as can be
};

}  // namespace nigh::platform
