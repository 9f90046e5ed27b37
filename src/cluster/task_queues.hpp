// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queues between a rank's workers and the thread that polls: imported tasks (Inbox), messages
// to be sent (Outbox), and tasks that this rank has placed at others, until their results are back
// (PlacedTasks). Each has a lock of its own, held for a few instructions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <nigh/cluster.hpp>
#include <nigh/runtime.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "cluster/wire.hpp"
#include "runtime/lock.hpp"

namespace nigh::cluster {

struct CheckpointCall;

// Tasks that no worker has begun, oldest first. Workers without work take them, and so do other
// ranks that ask; those of lost ranks are taken by workers that have other tasks, too.
//
// As (parking.S) says, a worker that goes to sleep looks at size_ after it was announced; put()
// changes size_ before its caller calls a worker (runtime/work_source.hpp). That a task has gone
// wakes nobody, so the stores that say so are relaxed: the lock keeps them in line with those of
// put().
class Inbox {
 public:
  // A task from another rank; or, without one, a closure that must run on this rank.
  struct Item {
    std::unique_ptr<Task> task;
    nigh::detail::task here;
  };

  void put(Item item) {
    std::lock_guard const guard(lock_);
    if (is_urgent(item)) urgent_.store(true, sync::relaxed);
    items_.push_back(std::move(item));
    size_.store(items_.size(), sync::seq_cst);  // (parking.S)
  }

  bool take(Item& item) {
    if (is_empty()) return false;
    std::lock_guard const guard(lock_);
    if (items_.empty()) return false;
    item = std::move(items_.front());
    items_.pop_front();
    size_.store(items_.size(), sync::relaxed);
    return true;
  }

  // The oldest task of a rank that was lost, the root task among them.
  bool has_urgent() const noexcept { return urgent_.load(sync::relaxed); }
  bool take_urgent(Item& item) {
    std::lock_guard const guard(lock_);
    auto const at = std::find_if(items_.begin(), items_.end(), is_urgent);
    bool const is_there = at != items_.end();
    if (is_there) {
      item = std::move(*at);
      items_.erase(at);
      size_.store(items_.size(), sync::relaxed);
    }
    if (std::none_of(items_.begin(), items_.end(), is_urgent)) urgent_.store(false, sync::relaxed);
    return is_there;
  }

  // Hands over the oldest tasks that may leave, as many as how_many(their number) says. Returns how
  // many went.
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
    size_.store(items_.size(), sync::relaxed);
    return given;
  }

  // Drops the tasks of a rank that is lost.
  void forget(int owner) {
    std::lock_guard const guard(lock_);
    std::erase_if(items_, [&](Item const& i) { return i.task && i.task->owner == owner; });
    size_.store(items_.size(), sync::relaxed);
  }

  bool is_empty() const noexcept { return size_.load(sync::relaxed) == 0; }
  bool surely_empty() const noexcept { return size_.load(sync::seq_cst) == 0; }  // (parking.S)

 private:
  static bool leaves(Item const& i) noexcept { return i.task != nullptr && !i.task->stays; }
  static bool is_urgent(Item const& i) noexcept { return i.task != nullptr && i.task->is_again; }

  mutable tasks::Lock lock_;
  std::deque<Item> items_;
  sync::atomic<bool> urgent_{false};  // a hint: one may have been taken otherwise
  sync::atomic<std::size_t> size_{0};
};

// Messages that workers want sent, their calls about checkpoints, and outcomes of the root task and
// of free tasks that threw, until a thread polls. By (lock.S), a thread that puts something here
// and then finds that another one polls may go on: that one looks once more when it has given the
// agent's lock.
class Outbox {
 public:
  void put(int to, bytes message) {
    std::lock_guard const guard(lock_);
    contents_.messages.emplace_back(to, std::move(message));
    full_.store(true, sync::seq_cst);  // (lock.S)
  }
  // After a loss the root task of an earlier run may end behind that of a later one.
  void put_root(Outcome root, std::uint32_t run) {
    std::lock_guard const guard(lock_);
    if (contents_.root && contents_.root_run > run) return;
    contents_.root = std::move(root);
    contents_.root_run = run;
    full_.store(true, sync::seq_cst);  // (lock.S)
  }
  void put_failure(Outcome of_free_task) {
    std::lock_guard const guard(lock_);
    contents_.failures.push_back(std::move(of_free_task));
    full_.store(true, sync::seq_cst);  // (lock.S)
  }

  void put_call(CheckpointCall& call) {
    std::lock_guard const guard(lock_);
    contents_.calls.push_back(&call);
    full_.store(true, sync::seq_cst);  // (lock.S)
  }

  bool is_empty() const noexcept { return !full_.load(sync::seq_cst); }  // (lock.S)

  struct Contents {
    std::vector<std::pair<int, bytes>> messages;  // with the ranks that they go to
    std::vector<Outcome> failures;
    std::vector<CheckpointCall*> calls;
    std::optional<Outcome> root;
    std::uint32_t root_run = 0;
  };
  Contents take_all() {
    std::lock_guard const guard(lock_);
    full_.store(false, sync::relaxed);
    return std::exchange(contents_, {});
  }

 private:
  tasks::Lock lock_;
  Contents contents_;
  sync::atomic<bool> full_{false};
};

// So many tasks at a time for each rank, and no more: this bounds the tasks on their way and those
// that wait there.
class PlacedTasks {
 public:
  // Distinguishes these tokens from those of slots, and from the root's.
  static constexpr Token mark = Token{1} << 63;
  static bool owns(Token t) noexcept { return (t & mark) != 0; }

  PlacedTasks(int ranks, std::size_t capacity)
      : capacity_(capacity), at_(static_cast<std::size_t>(ranks)) {}

  std::optional<Token> add(int rank, detail::placed const& task) {
    std::lock_guard const guard(lock_);
    auto& waiting = at_[static_cast<std::size_t>(rank)];
    if (waiting >= capacity_) {
      ++refused_;
      return {};
    }
    ++waiting;
    ++count_;
    if (free_.empty()) {
      free_.push_back(entries_.size());
      entries_.emplace_back();
    }
    auto const index = free_.back();
    free_.pop_back();
    entries_[index] = {task, rank};
    return mark | index;
  }

  detail::placed remove(Token token) {
    std::lock_guard const guard(lock_);
    auto const index = static_cast<std::size_t>(token & ~mark);
    NIGH_ASSERT(index < entries_.size() && entries_[index].rank >= 0, "a result comes once");
    auto const entry = entries_[index];
    entries_[index].rank = -1;
    free_.push_back(index);
    --at_[static_cast<std::size_t>(entry.rank)];
    return entry.task;
  }

  std::uint64_t count() {
    std::lock_guard const guard(lock_);
    return count_;
  }
  std::uint64_t refused() {
    std::lock_guard const guard(lock_);
    return refused_;
  }

 private:
  struct Entry {
    detail::placed task{};
    int rank = -1;  // -1: free
  };
  tasks::Lock lock_;
  std::size_t const capacity_;
  std::vector<std::size_t> at_;  // [rank]: how many
  std::vector<Entry> entries_;
  std::vector<std::size_t> free_;
  std::uint64_t count_ = 0;  // ever placed or refused
  std::uint64_t refused_ = 0;
};

}  // namespace nigh::cluster
