// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers for threads: each that asks has one of its own as long as it lives.

#include <bitset>
#include <cstddef>
#include <mutex>
#include <optional>

namespace nigh::tasks {

// A thread that is given a number sees all that the one did that had it before.
template <std::size_t Count>
class ThreadNumbers {
 public:
  std::optional<int> take() noexcept {  // the smallest that is free
    std::lock_guard const guard(lock_);
    for (std::size_t i = 0; i < Count; ++i)
      if (!taken_[i]) {
        taken_.set(i);
        return static_cast<int>(i);
      }
    return std::nullopt;
  }
  void give_back(int number) noexcept {
    std::lock_guard const guard(lock_);
    taken_.reset(static_cast<std::size_t>(number));
  }

  // Around fork(), by the thread that calls it. In the child, all others are gone.
  void before_fork() noexcept { lock_.lock(); }
  void in_parent() noexcept { lock_.unlock(); }
  void in_child(int mine) noexcept {  // -1: it has none
    taken_.reset();
    if (mine >= 0) taken_.set(static_cast<std::size_t>(mine));
    lock_.unlock();
  }

 private:
  std::mutex lock_;
  std::bitset<Count> taken_;
};

}  // namespace nigh::tasks
