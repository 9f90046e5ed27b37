// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which workers may run, in a program that shares the host with others: those on leased cpus.
//
//   lease      none ──obtain()──▶ busy ◀──resume()── idle
//                ▲                 │ │                 ▲
//                └── asked, gone ──┘ └──── pause() ────┘
//
// As long as any worker is awake, the lease is busy; when the last has fallen asleep, it is idle,
// and whoever hands out cpus may take it back without a word. Everything that takes a message is
// done by a thread of the arena's own, which sleeps meanwhile: workers never wait for cpus.
//
// Without a lease, one worker may run (policy/stealing/arena_members.hpp). When there is nobody who hands
// out cpus, all may.
//
// Who is awake is one word, added to and subtracted from; what follows from it is done under the
// lock, with another look at the word. So of those who brought it to zero or away from there, the
// last to come sees how it is, whoever was faster. All else is under the lock.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/atomic.hpp"
#include "platform/thread.hpp"
#include "policy/stealing/arena_members.hpp"
#include "runtime/cpu_lease.hpp"

namespace nigh::tasks {

// The arena of a program that has all its cpus to itself: all workers may run.
class Arena {
 public:
  explicit Arena(int workers) noexcept : all_(workers) {}
  virtual ~Arena() = default;

  virtual void start() {}
  virtual void stop() noexcept {}
  // A thread of the runtime's has something to do, or looks for it; or does so no more.
  virtual void woke() noexcept {}
  virtual void falls_asleep() noexcept {}
  virtual int members() const { return all_; }  // that may run now

 private:
  int const all_;
};

class LeasedArena final : public Arena {
 public:
  using Members = std::vector<bool>;  // [worker]

  // `tell` is called with who may run from now on, whenever that changes; under the lock.
  LeasedArena(std::unique_ptr<CpuLease> source, policy::ArenaWorkers workers,
              std::function<void(Members const&)> tell);
  ~LeasedArena() override;
  LeasedArena(LeasedArena&&) = delete;
  LeasedArena& operator=(LeasedArena&&) = delete;

  void start() override;          // until now, nobody gives an answer
  void stop() noexcept override;  // all may run, and nobody asks any more

  // A thread of the runtime's has something to do, or looks for it; or does so no more.
  void woke() noexcept override;
  void falls_asleep() noexcept override;

  int members() const override;

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
  bool obtaining_ = false;  // the source is the arena's thread's alone
  bool alone_ = false;      // nobody hands out cpus
  bool tries_again_ = false;
  bool stopping_ = false;
  Members members_;
  std::optional<platform::Thread> thread_;
};

}  // namespace nigh::tasks
