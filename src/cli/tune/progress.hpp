// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bar on standard error, when that is a terminal.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "platform/terminal.hpp"

namespace nigh::cli {

class Progress {
 public:
  Progress() : shown_(platform::errors_go_to_a_terminal()) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(Progress&&) = delete;

  // `done` of `done + left` runs, of which some may not be needed.
  void show(int done, int left, double seconds_left, std::string const& doing) const {
    if (!shown_) return;
    constexpr int width = 30;
    auto const full = static_cast<std::size_t>(width * done / std::max(1, done + left));
    fmt::print(stderr, "\r\033[K[{:.<30}] run {} of at most {}, {:.0f} s left at most  {:.40}",
               std::string(full, '#'), done + 1, done + left, seconds_left, doing);
    std::fflush(stderr);
  }

 private:
  bool shown_;
};

}  // namespace nigh::cli
