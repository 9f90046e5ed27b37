// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines on their way to where they are written: by a thread of its own, for a disk that others keep
// busy and a pipe that nobody reads hold up who writes. Who says something never waits for that.

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
    std::function<void(std::size_t)> lost;  // so many, for too many waited
  };
  // Called by one thread, which begins with the first line: after any fork(). It is not this one's.
  explicit LineQueue(Writer writer);
  // As finish(), with little patience.
  ~LineQueue();
  LineQueue(LineQueue&&) = delete;

  // From any thread. Of more than most_waiting, the oldest are lost.
  void add(Line line);
  // True when all is written. False if that takes longer: then the thread lives on, in what may not
  // return, and ending the process had better not wait for its files. No add() from now on.
  bool finish(std::chrono::milliseconds patience);

 private:
  struct Shared;
  bool has_thread();

  std::shared_ptr<Shared> shared_;  // with the thread
};

}  // namespace nigh::nighd
