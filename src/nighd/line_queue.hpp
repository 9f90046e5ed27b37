// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines on their way to a file. A thread of its own writes them, because a busy disk, or a pipe
// that nobody reads, holds up its writer. A thread that adds a line never waits for that.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace nigh::nighd {

struct Line {
  std::chrono::system_clock::time_point when;
  bool is_warning = false;
  std::string text;
};

class LineQueue {
 public:
  static constexpr std::size_t most_waiting = 1000;

  struct Writer {
    std::function<void(Line const&)> line;
    std::function<void(std::size_t)> lost;  // so many lines, because too many waited
  };
  // `write` is called by one thread, which begins with the first line: after any fork(). It is not
  // the caller's.
  explicit LineQueue(Writer writer);
  // As finish(), with little patience.
  ~LineQueue();
  LineQueue(LineQueue&&) = delete;

  // From any thread. Beyond most_waiting, the oldest lines are lost.
  void add(Line line);
  // True when all is written. False if that takes longer: then the thread lives on in a call that
  // may not return, and the process should end without waiting for its files. No add() from now on.
  bool finish(std::chrono::milliseconds patience);

 private:
  struct Shared;
  bool has_thread();

  std::shared_ptr<Shared> shared_;  // with the thread
};

}  // namespace nigh::nighd
