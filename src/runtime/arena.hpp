// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which workers may run, in a program that shares the host with others: those on leased cpus.
//
//   lease      none ──obtain()──▶ busy ◀──resume()── idle
//                ▲                 │ │                 ▲
//                └── asked, gone ──┘ └──── pause() ────┘
//
// While any worker is awake, the lease is busy. When the last has fallen asleep, it is idle, and
// the coordinator may take it back without a message. The arena's own thread does everything that
// takes a message, and sleeps otherwise: workers never wait for cpus.
//
// While it waits for cpus, one worker may run (policy/stealing/worker_layout.hpp). When it is
// granted none, because there is no coordinator or others hold them, all may, and share cpus with
// others. It then asks again while there is work, and all run meanwhile.
//
// One word counts the workers awake. A change that brings it to zero or away from there is followed
// up under the lock, with another look at the word: so of several such changes, the last one to get
// the lock sees the present state. The lock protects all else.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/atomic.hpp"
#include "platform/thread.hpp"
#include "policy/stealing/worker_layout.hpp"
#include "runtime/cpu_lease.hpp"

namespace nigh::tasks {

// The arena of a program that has all its cpus to itself: all workers may run.
class Arena {
 public:
  explicit Arena(int workers) noexcept : all_(workers) {}
  virtual ~Arena() = default;

  virtual void start() {}
  virtual void stop() noexcept {}
  // A thread of the runtime has something to do, or looks for it; or stops doing so.
  virtual void woke() noexcept {}
  virtual void falls_asleep() noexcept {}
  virtual int member_count() const { return all_; }  // how many may run now

 private:
  int const all_;
};

class LeasedArena final : public Arena {
 public:
  using Members = std::vector<bool>;  // [worker]

  // `tell` is called with the workers that may run, whenever that changes; under the lock.
  LeasedArena(std::unique_ptr<CpuLease> source, policy::ArenaWorkers workers,
              std::function<void(Members const&)> tell);
  ~LeasedArena() override;
  LeasedArena(LeasedArena&&) = delete;
  LeasedArena& operator=(LeasedArena&&) = delete;

  void start() override;  // its thread; no lease is asked for before
  void stop() noexcept override;  // all may run, and nobody asks any more

  // As Arena says.
  void woke() noexcept override;
  void falls_asleep() noexcept override;

  int member_count() const override;

 private:
  enum class Lease : std::uint8_t { none, idle, busy };

  void keep() noexcept;  // the arena's thread
  bool settle(std::unique_lock<std::mutex>& guard);
  void admit(Members members);
  void admit_granted(std::vector<int> const& cpus);
  void admit_all();

  std::unique_ptr<CpuLease> source_;
  policy::ArenaWorkers const workers_;
  std::function<void(Members const&)> const tell_;
  sync::atomic<std::uint32_t> awake_{0};
  mutable std::mutex lock_;
  Lease lease_ = Lease::none;
  bool obtaining_ = false;  // only the arena's thread may use the source
  bool granted_none_ = false;  // it asked in vain, or the coordinator is gone: all may run
  bool tries_again_ = false;
  bool stopping_ = false;
  Members members_;
  std::optional<platform::Thread> thread_;
};

}  // namespace nigh::tasks
