// SPDX-License-Identifier: Apache-2.0
#include "bench/crew.hpp"

#include "bench/pin.hpp"

namespace bench {

Crew::Crew(std::vector<int> cpus) : cpus_(std::move(cpus)) {
  for (int t = 0; t < size(); ++t) threads_.emplace_back([this, t] { serve(t); });
}

Crew::~Crew() {
  {
    std::lock_guard const lock(mutex_);
    leave_ = true;
  }
  begin_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Crew::run(std::function<void(int)> const& job) {
  std::unique_lock lock(mutex_);
  job_ = &job;
  ++round_;
  busy_ = size();
  begin_.notify_all();
  end_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::serve(int thread) {
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
