// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a thread gets the answer to its request from the thread that heard it. Several threads of a
// program may wait for answers at one socket. The one with the ListenerLock listens, and hands each
// answer over to the thread whose PendingRequest it belongs to.

#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/protocol/lease_word.hpp"
#include "coordinator/protocol/message.hpp"
#include "platform/futex.hpp"
#include "platform/pause.hpp"

namespace nigh::coordinator {

// Held by the thread that listens. The others sleep until it has heard something, then look whether
// that was for them, before they listen themselves.
//
// word_: 0 free; 1 taken; 2 taken and a thread may be asleep on it.
// (handover.T) A thread that takes the lock sees all that earlier holders wrote: give() releases,
//     try_take() acquires.
class ListenerLock {
 public:
  bool try_take() noexcept {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, sync::acquire);  // (handover.T)
  }
  void give() noexcept {
    if (word_.exchange(0, sync::release) == 2) platform::futex_wake_all(word_);  // (handover.T)
  }
  // Sleeps until the lock is given, unless it is free by now. The answer that woke the caller may
  // be its own, so it looks before it tries to take the lock.
  void await() noexcept {
    if (is_taken()) platform::futex_wait(word_, 2);
  }
  // The same, for so long at most.
  void await_for(std::int64_t us) noexcept {
    if (is_taken()) platform::futex_wait_for(word_, 2, us * 1000);
  }
  void take() noexcept {
    while (!try_take()) await();
  }
  // In a child of fork(), where no thread has it.
  void reset() noexcept { word_.store(0, sync::relaxed); }

 private:
  bool is_taken() noexcept {
    std::uint32_t expected = 1;
    return word_.compare_exchange_strong(expected, 2, sync::relaxed) || expected == 2;
  }

  sync::atomic<std::uint32_t> word_{0};
};

//            await()            begin()             settle()
//   nothing ────────▶ awaited ──────────▶ handed ──────────▶ an answer ── end() ──▶ nothing
//      ▲                 │
//      └── end(): given up
//
//   the waiting thread    await(), is_awaited(), end()
//   the listening thread  begin(), settle()                    one thread at a time
//
// The waiting thread may give up at any moment. The listening thread writes into the other's memory
// only between begin() and settle(), and end() waits for that. The word names the request, so that
// a late answer is not taken for that of the next request.
//
// (handover.H) The thread that begins a handover sees all that the other wrote before it waited:
//     await() releases, begin() acquires.
// (handover.R) The thread that sees the answer sees what came with it: settle() releases, end()
//     acquires.
// All else is relaxed: giving up tells the other thread nothing.
class Handover {
 public:
  enum class Is : std::uint8_t { nothing, awaited, handed, granted, refused, unplaced };

  // ---- the waiting thread

  void await(Ticket ticket) noexcept {
    word_.store(word(ticket, Is::awaited), sync::release);  // (handover.H)
  }
  bool is_awaited(Ticket ticket) const noexcept {
    auto const now = word_.load(sync::relaxed);
    return now == word(ticket, Is::awaited) || now == word(ticket, Is::handed);
  }
  // The answer; nothing: there is none, and none will come.
  Is end(Ticket ticket) noexcept {
    auto expected = word(ticket, Is::awaited);
    if (word_.compare_exchange_strong(expected, 0, sync::relaxed)) return Is::nothing;
    for (;;) {
      expected = word_.load(sync::acquire);  // (handover.R)
      if (expected != word(ticket, Is::handed)) break;
      sync::pause();
    }
    word_.store(0, sync::relaxed);
    return static_cast<Is>(expected & states);
  }

  // ---- the listening thread

  // False: no thread waits for that request.
  bool begin(Ticket ticket) noexcept {
    auto expected = word(ticket, Is::awaited);
    return word_.compare_exchange_strong(expected, word(ticket, Is::handed),
                                         sync::acquire);  // (handover.H)
  }
  void settle(Ticket ticket, Is answer) noexcept {
    word_.store(word(ticket, answer), sync::release);  // (handover.R)
  }

 private:
  static constexpr std::uint64_t states = 7;

  static constexpr std::uint64_t word(Ticket ticket, Is is) noexcept {
    return std::uint64_t{ticket} << 3 | static_cast<std::uint64_t>(is);
  }

  sync::atomic<std::uint64_t> word_{0};
};

// The last request of one thread, and its answer. Lives with the thread's LeaseClient; a
// ClientConnection knows it from attach() to detach().
struct PendingRequest {
  std::uint32_t slot = lease_slots;  // of the shared page; lease_slots: none yet
  Ticket ticket = 0;                 // modulo lease_slots, the slot
  Handover answer;
  Grant grant{};  // with an answer `granted`

  void next() noexcept { ticket += lease_slots; }
  // By the thread that has heard the answer, if the request still waits for it.
  bool take(Ticket of, Handover::Is what) noexcept {
    if (!answer.begin(of)) return false;
    answer.settle(of, what);
    return true;
  }
  bool take(Grant const& granted) noexcept {
    if (!answer.begin(granted.ticket)) return false;
    grant = granted;
    answer.settle(granted.ticket, Handover::Is::granted);
    return true;
  }
};

}  // namespace nigh::coordinator
