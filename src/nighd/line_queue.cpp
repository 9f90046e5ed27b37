// SPDX-License-Identifier: Apache-2.0
#include "nighd/line_queue.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace nigh::nighd {

struct LineQueue::Shared {
  explicit Shared(Writer w) : writer(std::move(w)) {}

  void work();

  Writer const writer;
  std::mutex lock;  // of what follows
  std::condition_variable news, done;
  std::deque<Line> lines;
  std::size_t lost = 0;
  bool has_thread = false;
  bool is_ending = false;
  bool is_done = false;
};

void LineQueue::Shared::work() {
  std::unique_lock guard(lock);
  for (;;) {
    news.wait(guard, [this] { return is_ending || !lines.empty(); });
    if (lines.empty()) break;
    auto const line = std::move(lines.front());
    lines.pop_front();
    auto const lost_before = std::exchange(lost, 0);
    guard.unlock();
    if (lost_before > 0) writer.lost(lost_before);
    writer.line(line);
    guard.lock();
  }
  is_done = true;
  done.notify_all();
}

LineQueue::LineQueue(Writer writer) : shared_(std::make_shared<Shared>(std::move(writer))) {}

LineQueue::~LineQueue() { finish(std::chrono::milliseconds(100)); }

void LineQueue::add(Line line) {
  std::lock_guard const guard(shared_->lock);
  if (shared_->lines.size() == most_waiting) {
    shared_->lines.pop_front();
    ++shared_->lost;
  }
  shared_->lines.push_back(std::move(line));
  if (has_thread()) shared_->news.notify_one();
}

// False when the system has no more threads. Lines wait; the next one tries again.
bool LineQueue::has_thread() {
  if (shared_->has_thread) return true;
  try {
    std::thread([shared = shared_] { shared->work(); }).detach();
    shared_->has_thread = true;
  } catch (std::system_error const&) {
  }
  return shared_->has_thread;
}

bool LineQueue::finish(std::chrono::milliseconds patience) {
  std::unique_lock guard(shared_->lock);
  shared_->is_ending = true;
  if (!shared_->has_thread && (shared_->lines.empty() || !has_thread()))
    return shared_->lines.empty();
  shared_->news.notify_one();
  return shared_->done.wait_for(guard, patience, [this] { return shared_->is_done; });
}

}  // namespace nigh::nighd
