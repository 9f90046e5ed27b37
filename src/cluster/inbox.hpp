// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks that have come to a rank and that no worker has begun, oldest first. Workers without work
// take them; so do other ranks that ask.
//
// (S) A worker that goes to sleep looks at size() after it has said so; put() changes it before
//     whoever put calls a worker (runtime/outside.hpp).

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <nigh/runtime.hpp>
#include <utility>

#include "base/atomic.hpp"
#include "cluster/wire.hpp"
#include "runtime/lock.hpp"

namespace nigh::cluster {

class Inbox {
 public:
  // A task from another rank; or, without one, what must run on this.
  struct Item {
    std::unique_ptr<Task> task;
    nigh::detail::task here;
  };

  void put(Item item) {
    std::lock_guard const guard(lock_);
    items_.push_back(std::move(item));
    size_.store(items_.size(), sync::seq_cst);  // (S)
  }

  bool take(Item& item) {
    if (is_empty()) return false;
    std::lock_guard const guard(lock_);
    if (items_.empty()) return false;
    item = std::move(items_.front());
    items_.pop_front();
    size_.store(items_.size(), sync::seq_cst);
    return true;
  }

  // Hands over the oldest tasks that may leave, so many as how_many(those) says; returns their
  // number.
  template <class HowMany, class Use>
  std::size_t give(HowMany how_many, Use use) {
    if (is_empty()) return 0;
    std::lock_guard const guard(lock_);
    std::size_t may_leave = 0;
    for (auto const& i : items_) may_leave += leaves(i);
    auto const wanted = may_leave > 0 ? how_many(may_leave) : 0;
    std::size_t given = 0;
    for (auto i = items_.begin(); given < wanted;) {
      if (!leaves(*i)) {
        ++i;
        continue;
      }
      use(*i->task);
      i = items_.erase(i);
      ++given;
    }
    size_.store(items_.size(), sync::seq_cst);
    return given;
  }

  // Drops the tasks of a rank that is lost.
  void forget(int owner) {
    std::lock_guard const guard(lock_);
    std::erase_if(items_, [&](Item const& i) { return i.task && i.task->owner == owner; });
    size_.store(items_.size(), sync::seq_cst);
  }

  bool is_empty() const noexcept { return size_.load(sync::relaxed) == 0; }
  bool surely_empty() const noexcept { return size_.load(sync::seq_cst) == 0; }  // (S)

 private:
  static bool leaves(Item const& i) noexcept { return i.task != nullptr && !i.task->stays; }

  mutable tasks::Lock lock_;
  std::deque<Item> items_;
  sync::atomic<std::size_t> size_{0};
};

}  // namespace nigh::cluster
