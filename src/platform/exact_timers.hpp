// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sleeping exactly as long as asked. Linux otherwise lets a thread sleep some 50 us longer, so that
// it need not set a timer for each.

namespace nigh::platform {

// While one lives, its thread's sleeps end on time.
class ExactTimers {
 public:
  ExactTimers() noexcept;
  ~ExactTimers();
  ExactTimers(ExactTimers&&) = delete;
  ExactTimers& operator=(ExactTimers&&) = delete;

 private:
  int const slack_ns_;  // before; 0 or less: unknown, or already exact
};

}  // namespace nigh::platform
