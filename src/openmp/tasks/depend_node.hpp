// SPDX-License-Identifier: Apache-2.0
#pragma once
// One of the tasks that depend on each other, or a wait for some of them.
//
// (depend_node.D) A task sees what those before it did. The one that ends counts down `before`
//     (releases), and the thread that counts it to 0 (acquires) submits the task. A task that is
//     made later finds under the node's lock that the one before has ended.
// A sleeper misses no end that it waits for by (sleeper.S).

#include <stdlib.h>

#include <algorithm>
#include <cstdint>

#include "base/atomic.hpp"
#include "openmp/tasks/yielding_lock.hpp"

namespace nigh::openmp::tasks {

struct Member;
struct Task;

// A list of small values. The second one needs malloc()'s memory, which free_memory() gives back: a
// list is copied by those who take it over.
template <class T>
class Items {
 public:
  std::uint32_t count() const noexcept { return count_; }
  T* begin() noexcept { return room_ == 0 ? &one_ : many_; }
  T* end() noexcept { return begin() + count_; }
  T const* begin() const noexcept { return room_ == 0 ? &one_ : many_; }
  T const* end() const noexcept { return begin() + count_; }

  // False: there is no memory.
  bool add(T value) noexcept {
    if (count_ == std::max(room_, 1U) && !grow()) return false;
    begin()[count_++] = value;
    return true;
  }
  void keep(std::uint32_t first) noexcept { count_ = first; }
  void free_memory() noexcept {
    if (room_ != 0) free(many_);
    *this = {};
  }

 private:
  bool grow() noexcept {
    auto const more = room_ == 0 ? 4 : 2 * room_;
    auto* const moved = static_cast<T*>(realloc(room_ == 0 ? nullptr : many_, more * sizeof(T)));
    if (moved == nullptr) return false;
    if (room_ == 0) moved[0] = one_;
    many_ = moved;
    room_ = more;
    return true;
  }

  std::uint32_t count_ = 0, room_ = 0;  // no room: for one
  union {
    T one_{};
    T* many_;
  };
};

class DependNode;

// A node while it is one task's. When that one has ended, the node may be another's.
struct NodeOfTask {
  DependNode* node = nullptr;
  std::uint64_t use = 0;

  bool operator==(NodeOfTask const&) const = default;
};

// Its memory is always a node's (kept.hpp), so that those who know an earlier use may look.
class DependNode {
 public:
  void begin(Task* task, Member* waiting) noexcept {
    before_.store(1, sync::relaxed);
    task_ = task;
    waiting_ = waiting;
  }

  Task* task() const noexcept { return task_; }          // null: a wait without a task
  Member* waiting() const noexcept { return waiting_; }  // the thread that waits then

  // The addresses of its mutexinoutset clauses, in the order of the clauses.
  Items<std::uintptr_t>& mutexes() noexcept { return mutexes_; }
  Items<std::uintptr_t> const& mutexes() const noexcept { return mutexes_; }

  DependNode* next_put_off = nullptr;  // of those that wait at an address of mutexinoutset

  // ---- the thread that makes it

  // Until its task may begin.
  NodeOfTask now() noexcept { return {this, use_}; }
  // It waits for this one, unless that has ended. False: there is no memory.
  bool wait_for(NodeOfTask earlier) noexcept {
    if (earlier.node == this) return true;
    Locked const here(earlier.node->lock_);
    if (earlier.node->use_ != earlier.use) return true;
    before_.fetch_add(1, sync::relaxed);
    return earlier.node->after_.add(this);
  }
  // It waits for no more. True: all have ended, the caller submits its task.
  bool is_ready() noexcept { return before_.fetch_sub(1, sync::acq_rel) == 1; }  // (depend_node.D)
  // Of a wait: all have ended.
  bool is_over() const noexcept {
    return before_.load(sync::seq_cst) == 1;  // (depend_node.D) (sleeper.S)
  }
  static bool has_ended(NodeOfTask of) noexcept {
    Locked const here(of.node->lock_);
    return of.node->use_ != of.use;
  }

  // ---- the thread that ends the task

  // Those that waited for it; nobody will wait for it from now on. The caller frees the list.
  Items<DependNode*> end() noexcept {
    Locked const here(lock_);
    ++use_;
    Items<DependNode*> const after = after_;
    after_ = {};
    return after;
  }
  // Of one that waited, which may be gone after the last of these calls. True: it waits for nothing
  // else.
  bool one_has_ended() noexcept {
    return before_.fetch_sub(1, sync::seq_cst) == 1;  // (depend_node.D) (sleeper.S)
  }

 private:
  sync::atomic<std::int32_t> before_{1};  // that have not ended; one more until all are known
  Task* task_ = nullptr;
  Member* waiting_ = nullptr;
  YieldingLock lock_;
  std::uint64_t use_ = 0;  // how many tasks it was of that have ended
  Items<DependNode*> after_;
  Items<std::uintptr_t> mutexes_;
};

}  // namespace nigh::openmp::tasks
