// SPDX-License-Identifier: Apache-2.0
#pragma once
// Says on one line of standard error how far a command is: once that takes longer than two seconds,
// and when standard error is a terminal that can erase a line. No colours, no characters beyond
// ASCII of its own.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "platform/bell.hpp"

namespace nigh::platform {

struct ProgressState {
  int done = 0;
  int all = 0;                              // steps; 0: nobody knows
  bool are_at_most = false;                 // some of the steps may not be needed
  std::string doing = {};                   // the step that runs
  std::optional<double> seconds_left = {};  // nothing: as many for each step as so far
};

// The line, shorter than a terminal of so many columns. `seconds` have passed since the start,
// `since_state` of them since the state was told.
std::string progress_line(ProgressState const& state, double seconds, double since_state,
                          std::size_t columns);

class Progress {
 public:
  explicit Progress(int steps = 0);  // 0: nobody knows how many
  ~Progress();                       // removes the line; of several, the newest is destroyed first
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;

  void step(std::string doing);  // one more step begins
  void show(ProgressState state);

  // Removes the line, for another text that comes now. It is back a second later.
  static void make_way();

 private:
  using Clock = std::chrono::steady_clock;

  void redraw_until_told();
  void draw();
  void erase();

  // The newest has the line; the one before gets it back.
  static inline std::mutex line_mutex_;  // for these two, and the terminal; taken before mutex_
  static inline Progress* current_ = nullptr;
  Progress* before_ = nullptr;

  std::mutex mutex_;  // for all below
  ProgressState state_;
  Clock::time_point start_ = Clock::now(), told_ = start_;
  bool is_over_ = false;
  bool is_drawn_ = false;  // line_mutex_'s
  Bell bell_;
  std::thread thread_;  // none: the line is not shown
};

}  // namespace nigh::platform
