// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program and samples it from outside.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nigh/topology.hpp>
#include <utility>
#include <vector>

#include "cli/run/whereabouts.hpp"
#include "platform/launch.hpp"
#include "platform/process_usage.hpp"

namespace nigh::cli {

// Gets each sample, too. All functions may be left out; `seconds` are since the watch began.
struct WatchListener {
  std::function<void(double seconds, std::vector<platform::ThreadSample> const&)> threads = {};
  std::function<void(double seconds, std::map<int, std::uint64_t> const&)> pages = {};
  std::function<void(std::vector<int> const& processes)> processes = {};
  int looks_a_lap = 20;  // in the time that the program has run so far
};

// Looks often at first, as programs may be short; later so rarely that each of three kinds of
// looking costs below one part in a hundred of the time: at threads, at the list of all processes,
// and at page tables, which grow with the program. Where one look takes long, a program that ends
// soon would be seen in its first moment only: so each time its age doubles there is a look, too,
// even at up to a tenth of the time.
class Watch {
 public:
  explicit Watch(WatchListener listener = {}) : listener_(std::move(listener)) {}

  // At the program and all that it started; returns when to look again.
  std::chrono::nanoseconds look(int pid);

  Whereabouts const& seen() const { return seen_; }

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_at(Clock::time_point time) const {
    return std::chrono::duration<double>(time - start_).count();
  }
  // Until the next look of a kind whose last one took `cost`.
  std::chrono::nanoseconds pause_after(std::chrono::nanoseconds cost) const;
  void look_for_processes(int pid);
  void look_at_pages();

  WatchListener listener_;
  Whereabouts seen_;
  std::vector<int> tree_;
  Clock::time_point const start_ = Clock::now();
  Clock::time_point next_tree_ = start_, next_pages_ = start_;
};

// Reports, then ends as the program ended: throws ExitStatus, or dies of the signal that ended it.
[[noreturn]] void run_watched(platform::Launch const& launch, topology const& machine,
                              platform::Complain const& say);

}  // namespace nigh::cli
