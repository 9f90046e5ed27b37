// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a thread records what it does: in its track if a trace is made, and nowhere otherwise.

#include <cstddef>
#include <cstdint>

#include "trace/track.hpp"

namespace nigh::tasks {

class TraceSink {
 public:
  void write_to(trace::Track& track) noexcept { track_ = &track; }
  bool is_on() const noexcept { return track_ != nullptr; }

  void task_begin(int home = -1, std::uint64_t bytes = 0) noexcept {
    if (is_on()) track_->task_begin(home, bytes);
  }
  void task_end() noexcept {
    if (is_on()) track_->task_end();
  }
  void stole(int victim, level where, std::size_t tasks) noexcept {
    if (is_on()) track_->stole(victim, where, tasks);
  }
  void search_failed() noexcept {
    if (is_on()) track_->search_failed();
  }
  void resumed() noexcept {
    if (is_on()) track_->resumed();
  }
  void parked() noexcept {
    if (is_on()) track_->parked();
  }
  void unparked(bool slept) noexcept {
    if (is_on()) track_->unparked(slept);
  }
  void all_done() noexcept {
    if (is_on()) track_->all_done();
  }
  void serialized() noexcept {
    if (is_on()) track_->serialized();
  }
  void forked(std::size_t height) noexcept {
    if (is_on()) track_->forked(height);
  }
  void queue_length(std::size_t tasks) noexcept {
    if (is_on()) track_->queue_length(tasks);
  }

 private:
  trace::Track* track_ = nullptr;
};

}  // namespace nigh::tasks
