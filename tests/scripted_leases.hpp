// SPDX-License-Identifier: Apache-2.0
#pragma once
// Leases as a test wants them: there is one script, and each runtime made while it lives asks it.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "runtime/cpu_lease.hpp"

namespace nigh::tests {

class LeaseScript {
 public:
  using Cpus = std::vector<int>;

  explicit LeaseScript(Cpus first) : cpus_(std::move(first)) {
    tasks::make_cpu_lease = [](topology const&, std::span<int const> of_workers) {
      return make(of_workers);
    };
    the_script() = this;
  }
  ~LeaseScript() {
    tasks::make_cpu_lease = nullptr;
    the_script() = nullptr;
  }
  LeaseScript(LeaseScript&&) = delete;

  // The held lease is asked back, and from now on these cpus are granted; nothing: there is no
  // coordinator.
  void grant(std::optional<Cpus> cpus) {
    change([&] {
      cpus_ = std::move(cpus);
      withheld_ = false;
      for (auto* s : sources_) s->state = ended(s->state);
    });
  }
  // Those who ask wait, until the next grant().
  void withhold() {
    change([&] {
      withheld_ = true;
      for (auto* s : sources_) s->state = ended(s->state);
    });
  }
  // Until some lease, or none, is idle; until somebody waits to be granted one.
  void await_idle() {
    await([&] { return any(State::idle); });
  }
  void await_asking() {
    await([&] { return asking_ > 0; });
  }
  int grants() const {
    std::lock_guard const guard(lock_);
    return grants_;
  }
  int sources() const {
    std::lock_guard const guard(lock_);
    return made_;
  }

 private:
  enum class State : std::uint8_t { none, idle, busy, asked, taken, gone };

  struct Source : tasks::CpuLease {
    explicit Source(LeaseScript& s) : script(s) {
      std::lock_guard const guard(script.lock_);
      script.sources_.insert(this);
      ++script.made_;
    }
    ~Source() override {
      std::lock_guard const guard(script.lock_);
      script.sources_.erase(this);
    }
    News news() override {
      std::lock_guard const guard(script.lock_);
      if (state == State::gone) return state = State::none, News::gone;
      return state == State::asked || state == State::taken ? News::asked : News::none;
    }
    void wait(std::optional<std::int64_t> timeout_us) override {
      std::unique_lock guard(script.lock_);
      auto const over = [&] { return rung || state == State::asked || state == State::gone; };
      if (timeout_us)  // the script says so when it has another answer
        script.changed_.wait(guard, [&] { return over() || script.cpus_; });
      else
        script.changed_.wait(guard, over);
      rung = false;
    }
    std::optional<std::vector<int>> obtain() override {
      std::unique_lock guard(script.lock_);
      state = State::none;
      ++script.asking_;
      script.changed_.notify_all();
      script.changed_.wait(guard, [&] { return !script.withheld_ || closed; });
      --script.asking_;
      if (closed || !script.cpus_) return {};
      ++script.grants_;
      state = State::busy;
      return script.cpus_;
    }
    void give_back() override {
      std::lock_guard const guard(script.lock_);
      state = State::none;
    }
    bool pause() noexcept override { return move(State::busy, State::idle); }
    bool resume() noexcept override { return move(State::idle, State::busy); }
    void ring() noexcept override {
      script.change([&] { rung = true; });
    }
    void close() noexcept override {
      script.change([&] { closed = true; });
    }
    bool move(State from, State to) {
      bool moved = false;
      script.change([&] {
        moved = state == from;
        if (moved) state = to;
      });
      return moved;
    }

    LeaseScript& script;
    State state = State::none;
    bool rung = false, closed = false;
  };

  static LeaseScript*& the_script() {
    static LeaseScript* script = nullptr;
    return script;
  }
  static std::unique_ptr<tasks::CpuLease> make(std::span<int const>) {
    return std::make_unique<Source>(*the_script());
  }

  State ended(State before) const {
    if (!cpus_) return State::gone;
    if (before == State::idle) return State::taken;
    return before == State::busy ? State::asked : before;
  }
  bool any(State what) const {
    for (auto const* s : sources_)
      if (s->state == what) return true;
    return false;
  }
  template <class F>
  void change(F f) {
    std::lock_guard const guard(lock_);
    f();
    changed_.notify_all();
  }
  template <class F>
  void await(F f) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, f);
  }

  mutable std::mutex lock_;
  std::condition_variable changed_;
  std::optional<Cpus> cpus_;
  bool withheld_ = false;
  int asking_ = 0, grants_ = 0, made_ = 0;
  std::set<Source*> sources_;
};

}  // namespace nigh::tests
