// SPDX-License-Identifier: Apache-2.0
#pragma once
// A socket in a process that is not ours, where others may close it and open something of their own
// under the same number. Every use first makes sure that the number still means our socket.
//
// That leaves the time between the look and the use. A process that announces what it closes
// (begin_closing) waits until nobody uses the number. A process that closes by bare system calls
// does not wait, and would have to hit those nanoseconds.
//
// The number is a high one, so that the process finds the low ones free, as without us. Nothing
// here throws or allocates, and no thread is cancelled in here.

#include <sys/types.h>

#include "base/atomic.hpp"
#include "platform/number_lock.hpp"
#include "platform/uncancelled.hpp"

namespace nigh::platform {

class OwnSocket {
 public:
  OwnSocket() noexcept = default;
  ~OwnSocket();
  OwnSocket(OwnSocket&&) = delete;
  OwnSocket& operator=(OwnSocket&&) = delete;

  // While it lives, no thread that announces its closing closes the number or puts anything else
  // there.
  class Use {
   public:
    explicit Use(OwnSocket& socket) noexcept;
    ~Use();
    Use(Use&&) = delete;
    Use& operator=(Use&&) = delete;
    int number() const noexcept { return number_; }  // -1: it is gone

   private:
    Uncancelled const uncancelled_{};
    OwnSocket* socket_;
    int number_ = -1;
  };

  // The same, and no other thread uses the number, nor closes any number.
  class Change {
   public:
    explicit Change(OwnSocket& socket) noexcept;
    ~Change();
    Change(Change&&) = delete;
    Change& operator=(Change&&) = delete;

    int number() const noexcept;
    // Closes the earlier socket. Otherwise as connect_local().
    int open(char const* path) noexcept;
    void close() noexcept;

   private:
    Uncancelled const uncancelled_{};
    OwnSocket* socket_;
  };

  // For waiting; the number may mean something else by now.
  int number() const noexcept;

  // The process is about to close the descriptors from `first` to `last`, or to put others there.
  // The connection is ended if its number is among them and this process made it: a child after
  // vfork() has its numbers for itself. True: the same thread calls end_closing() next.
  bool begin_closing(unsigned first, unsigned last) noexcept;
  void end_closing() noexcept;

  // In a child of fork(): the connection stays its parent's.
  void drop() noexcept;

 private:
  // Stands for "no socket": every number could become somebody's.
  static constexpr int none = -1, any = -2;

  int own() const noexcept;
  void close_own() noexcept;

  NumberLock lock_;
  // Changed under the lock only.
  sync::atomic<int> watched_{none};
  sync::atomic<pid_t> owner_{0};
  int number_ = none;
  int closer_cancelled_ = 0;
  dev_t device_{};
  ino_t inode_{};
};

}  // namespace nigh::platform
