// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a task learns that its predecessors have ended: each predecessor keeps a list of edges to its
// successors, and each successor counts the predecessors that have not ended.
//
//   maker of a task   expect(n); add() to each predecessor's list, or arrive() where that is
//                     closed; arrive() for itself
//   ended task        close(); arrive() at the end of each edge
//
// The arrive() that brings the count to 0 is the last one, and its thread makes the successor run.
// An edge lies in its successor, which may end, and be destroyed, once the edge's end has arrived:
// so whoever walks the list reads the next edge first.
//
// (task_edges.S) add() or close() comes first. If add() does, close() sees the whole edge: add()
//     releases it, later ones carry it on as read-modify-writes, and close() acquires. If close()
//     does, add() sees the outcome of the ended task: close() releases it, and add() acquires what
//     it reads.
// (task_edges.P) A task sees what all its predecessors did: arrive() releases, and the one that brings
//     the count to 0 acquires.
// (task_edges.R) An object is destroyed after its last use: each release() releases, the last acquires.

#include <cstdint>
#include <nigh/detail/atomic.hpp>

namespace nigh::detail {

struct task_record;

struct task_edge {
  task_record* to = nullptr;
  task_edge* next = nullptr;
};

class successor_list {
 public:
  // False: the task has ended, and its outcome may be read.
  bool add(task_edge& edge) noexcept {
    for (;;) {
      auto* first = first_.load(sync::acquire);  // (task_edges.S)
      if (first == closed()) return false;
      edge.next = first;
      if (first_.compare_exchange_strong(first, &edge, sync::release)) return true;  // (task_edges.S)
    }
  }
  // The task has ended. The newest edge, or null.
  task_edge* close() noexcept { return first_.exchange(closed(), sync::acq_rel); }  // (task_edges.S)

 private:
  // No address of an object: the library and a program would have one each.
  static task_edge* closed() noexcept { return reinterpret_cast<task_edge*>(std::uintptr_t{1}); }

  sync::atomic<task_edge*> first_{nullptr};
};

class arrivals {
 public:
  void expect(std::uint32_t count) noexcept { left_.store(count, sync::relaxed); }
  // True for the last one.
  bool arrive() noexcept { return left_.fetch_sub(1, sync::acq_rel) == 1; }  // (task_edges.P)

 private:
  sync::atomic<std::uint32_t> left_{0};
};

class use_count {
 public:
  explicit use_count(std::uint32_t users) noexcept : users_(users) {}
  void retain() noexcept { users_.fetch_add(1, sync::relaxed); }
  // True for the last user, who destroys the object.
  bool release() noexcept { return users_.fetch_sub(1, sync::acq_rel) == 1; }  // (task_edges.R)

 private:
  sync::atomic<std::uint32_t> users_;
};

}  // namespace nigh::detail
