// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "bench/pin.hpp"
#include "bench/tasks/rendezvous.hpp"

namespace bench {

namespace {

// A thread that sleeps on a condition variable until it is told what to call.
class Sleeper {
 public:
  explicit Sleeper(int cpu) : thread_([this, cpu] { serve(cpu); }) {}
  ~Sleeper() {
    tell(nullptr, true);
    thread_.join();
  }
  Sleeper(Sleeper&&) = delete;
  Sleeper& operator=(Sleeper&&) = delete;

  void call(std::function<void()> const& body) { tell(&body, false); }

  void await() {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return body_ == nullptr; });
  }

 private:
  void tell(std::function<void()> const* body, bool leave) {
    std::lock_guard const lock(mutex_);
    body_ = body;
    leave_ = leave;
    told_.notify_all();
  }

  void serve(int cpu) {
    pin_this_thread(cpu);
    std::unique_lock lock(mutex_);
    for (;;) {
      told_.wait(lock, [this] { return leave_ || body_ != nullptr; });
      if (leave_) return;
      lock.unlock();
      (*body_)();
      lock.lock();
      body_ = nullptr;
      told_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable told_;
  std::function<void()> const* body_ = nullptr;
  bool leave_ = false;
  std::thread thread_;
};

}  // namespace

std::vector<double> time_sleeper_rendezvous(std::vector<int> const& cpus, double pause_us,
                                            int count) {
  pin_this_thread(cpus[0]);
  Sleeper other(cpus[1]);
  auto const fork = [&other](std::function<void()> const& body) {
    other.call(body);
    body();
    other.await();
  };
  return time_rendezvous(fork, pause_us, count);
}

}  // namespace bench
