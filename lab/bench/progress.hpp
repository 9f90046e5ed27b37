// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bar on standard error, when that is a terminal.

#include <chrono>
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

}  // namespace bench
