// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bar on standard error, when that is a terminal.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace bench {

class Progress {
 public:
  explicit Progress(int steps);
  ~Progress();  // removes the bar
  Progress(Progress const&) = delete;
  Progress& operator=(Progress const&) = delete;

  void step(std::string const& doing);  // one more step begins

 private:
  int steps_;
  int done_ = -1;
  bool shown_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

inline Progress::Progress(int steps)
    : steps_(std::max(steps, 1)), shown_(isatty(STDERR_FILENO) == 1) {}

inline Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

inline void Progress::step(std::string const& doing) {
  ++done_;
  if (!shown_) return;
  constexpr int width = 30;
  int const full = std::min(width, done_ * width / steps_);
  std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start_;
  double const left = done_ > 0 ? passed.count() / done_ * (steps_ - done_) : 0;
  std::string bar(static_cast<std::size_t>(full), '#');
  bar.resize(width, '.');
  std::fprintf(stderr, "\r\033[K[%s] %3d%%  %4.0f s left  %.40s", bar.c_str(),
               std::min(100, done_ * 100 / steps_), left, doing.c_str());
  std::fflush(stderr);
}

}  // namespace bench
