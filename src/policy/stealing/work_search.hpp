// SPDX-License-Identifier: Apache-2.0
#pragma once
// WorkSearch: where does a thread without a task look for one, and in which order?
//
// permissions() says what a thread may take: by the kind of thread, what it waits for, how much of
// its stack is left, and whether its program may still use its cpu.
// search_order() lists the sources of one look. A worker walks the list, and so does the
// simulator's replay.

#include <array>
#include <cstddef>
#include <cstdint>

#include "policy/stealing/idle.hpp"

namespace nigh::policy {

enum class Source : std::uint8_t {
  mailbox,          // a message to this worker, of a loop on a team
  own_queue,        // its local buffer, then the queue of its group
  joined_thief,     // the stack of the thread that has stolen the task it waits for (leapfrogging:
                    // Wagner and Calder, PPoPP'93): tasks there are mostly part of that task
  stacks,           // the task stacks of other workers, in the order of steal_order.hpp, then those
                    // of backup and external threads
  sibling_buffers,  // tasks that others of its group have taken from the queue and not begun
  other_queues,     // queues and buffers of other groups, nearest first
  own_shared,       // tasks on its own stack below the scope, for which perhaps no thief has come
  imported,         // tasks of other processes
};

enum class ThreadKind : std::uint8_t {
  worker,
  relieved_worker,  // a backup thread works in its place
  backup,
  external,  // a thread of the program's own
};

enum class WaitingFor : std::uint8_t {
  work,         // at the bottom of its stack
  stolen_task,  // in a join
  scope,        // until a scope's queued tasks have run
};

struct Permissions {
  bool thief = false;       // joined_thief
  bool stacks = false;      // stacks, mailbox
  bool queues = false;      // own_queue, sibling_buffers, other_queues, imported
  bool own_shared = false;  // own_shared

  // Spawners may count on it: it takes whatever they queue or share.
  constexpr bool counts_as_searching() const noexcept { return queues; }
  bool operator==(Permissions const&) const = default;
};

// A task that a thread takes while it waits runs on top of the one that waits. So:
// - with little stack left, a worker whose backup thread works takes nothing, and neither does an
// external thread. A backup thread goes on, and so does a worker that got no backup thread: no
// other thread would take the queued tasks that they may wait for;
// - inside an isolated region it takes nothing: any other task may come from outside. The tasks of
// the region that are its own it runs without a search;
// - when its cpu is revoked, a thread only ends what it has begun: in a join it helps its thief, at
// a scope's end it runs the tasks below on its own stack. In a join there are none: all tasks below
// a stolen one are stolen.
// External threads take no queued tasks: a domain's tasks run on its workers.
constexpr Permissions permissions(ThreadKind kind, WaitingFor waiting_for, bool stack_low,
                                  bool cpu_revoked, bool isolated = false) noexcept {
  bool const joins = waiting_for != WaitingFor::work;
  bool const leaves_it_to_others =
      kind == ThreadKind::external || kind == ThreadKind::relieved_worker;
  if (joins && (isolated || (stack_low && leaves_it_to_others))) return {};
  bool const begins_new = !joins || !cpu_revoked;
  return {.thief = waiting_for == WaitingFor::stolen_task,
          .stacks = begins_new,
          .queues = begins_new && kind != ThreadKind::external,
          .own_shared = waiting_for == WaitingFor::scope};
}

enum class SearchPhase : std::uint8_t {
  begin,     // it has just run out of tasks: one look
  linger,    // it waits patiently for a moment, unannounced
  leapfrog,  // it has just begun to wait for a stolen task: what its thief has is mostly part of it.
             // Not with little stack left
  search,    // it is announced as a searcher
};

class SearchOrder {
 public:
  constexpr void add(Source source, bool may) noexcept {
    if (may) sources_[count_++] = source;
  }
  constexpr Source const* begin() const noexcept { return sources_.data(); }
  constexpr Source const* end() const noexcept { return sources_.data() + count_; }

 private:
  std::array<Source, 8> sources_{};
  std::size_t count_ = 0;
};

// The sources of one look, in order. While a spawner is at work, tasks come one by one; taking each
// as it comes would send the queue's cache lines back and forth. So a lingering worker looks at its
// queue rarely, and at stacks all the time: shared tasks there are meant to be stolen.
constexpr SearchOrder search_order(SearchPhase phase, Permissions may, int failed_rounds,
                                   IdlePolicy p = {}) noexcept {
  SearchOrder order;
  switch (phase) {
    case SearchPhase::begin:
      order.add(Source::mailbox, may.stacks);
      order.add(Source::own_queue, may.queues);
      order.add(Source::stacks, may.stacks);
      break;
    case SearchPhase::linger:
      order.add(Source::mailbox, may.stacks);
      order.add(Source::stacks, may.stacks);
      order.add(Source::own_queue, may.queues && (failed_rounds + 1) % p.pauses_lingering == 0);
      break;
    case SearchPhase::leapfrog:
      order.add(Source::joined_thief, may.thief);
      break;
    case SearchPhase::search:
      order.add(Source::joined_thief, may.thief);
      order.add(Source::mailbox, may.stacks);
      order.add(Source::stacks, may.stacks);
      order.add(Source::own_queue, may.queues);
      order.add(Source::sibling_buffers, may.queues);
      order.add(Source::other_queues, may.queues && looks_abroad(failed_rounds, p));
      order.add(Source::own_shared, may.own_shared);
      order.add(Source::imported, may.queues);
      break;
  }
  return order;
}

}  // namespace nigh::policy
