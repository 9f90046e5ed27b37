// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread that says every so often that this rank is there, whatever the others do.

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "base/atomic.hpp"
#include "platform/futex.hpp"
#include "platform/thread.hpp"

namespace nigh::cluster {

class Beats {
 public:
  Beats(std::int64_t every_ns, std::function<void()> beat)
      : thread_([this, every_ns, beat = std::move(beat)] {
          platform::leave_signals_to_others();
          while (stops_.load(sync::relaxed) == 0) {
            beat();
            platform::shared_futex_wait(stops_, 0, every_ns);
          }
        }) {}
  ~Beats() {
    stops_.store(1, sync::relaxed);
    platform::shared_futex_wake_all(stops_);
    thread_.join();
  }
  Beats(Beats&&) = delete;

 private:
  sync::atomic<std::uint32_t> stops_{0};
  std::thread thread_;  // last: it uses the rest
};

}  // namespace nigh::cluster
