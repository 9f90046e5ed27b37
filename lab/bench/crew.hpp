// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pinned threads of the benchmark's own, for what lies between two measurements (first touch,
// refilling, checksums) and for the bandwidth probe. Asleep when there is nothing to do.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

class Crew {
 public:
  explicit Crew(std::vector<int> cpus);
  ~Crew();
  Crew(Crew&&) = delete;
  Crew& operator=(Crew&&) = delete;

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

}  // namespace bench
