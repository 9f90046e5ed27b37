// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pinned threads of the benchmark's own, for what lies between two measurements (first touch,
// refilling, checksums) and for the bandwidth probe. Asleep when there is nothing to do.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "bench/pin.hpp"

namespace bench {

class PinnedThreads {
 public:
  explicit PinnedThreads(std::vector<int> cpus);
  ~PinnedThreads();
  PinnedThreads(PinnedThreads&&) = delete;
  PinnedThreads& operator=(PinnedThreads&&) = delete;

  int size() const noexcept { return static_cast<int>(cpus_.size()); }
  std::vector<int> const& cpus() const noexcept { return cpus_; }

  // Calls job(t) in every thread t, and returns when all are through.
  void run(std::function<void(int)> const& job);

 private:
  void serve(int thread);

  std::vector<int> cpus_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  std::function<void(int)> const* job_ = nullptr;
  unsigned long round_ = 0;
  int busy_ = 0;
  bool leave_ = false;
  std::vector<std::thread> threads_;
};

inline PinnedThreads::PinnedThreads(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  for (int t = 0; t < size(); ++t) threads_.emplace_back([this, t] { serve(t); });
}

inline PinnedThreads::~PinnedThreads() {
  {
    std::lock_guard const lock(mutex_);
    leave_ = true;
  }
  begin_.notify_all();
  for (std::thread& t : threads_) t.join();
}

inline void PinnedThreads::run(std::function<void(int)> const& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  ++round_;
  busy_ = size();
  begin_.notify_all();
  end_.wait(lock, [this] { return busy_ == 0; });
}

inline void PinnedThreads::serve(int thread) {
  pin_this_thread(cpus_[static_cast<std::size_t>(thread)]);
  unsigned long seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    begin_.wait(lock, [&] { return leave_ || round_ != seen; });
    if (leave_) return;
    seen = round_;
    lock.unlock();
    (*job_)(thread);
    lock.lock();
    if (--busy_ == 0) end_.notify_one();
  }
}

}  // namespace bench
