// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the answer to a thread's request comes from the thread that heard it.
//
//            await()            begin()             settle()
//   nothing ────────▶ awaited ──────────▶ handed ──────────▶ an answer ── end() ──▶ nothing
//      ▲                 │
//      └── end(): given up
//
//   who waits    await(), is_awaited(), end()
//   who listens  begin(), settle()                             one thread at a time
//
// Who waits may give up at any moment. Who listens writes into what is the other's only between
// begin() and settle(), which end() waits for. The word says which request it is about, so that
// what comes too late for one is not taken for the next one's.
//
// (H) Who begins to hand over sees all that the other wrote before it waited: await() releases,
//     begin() acquires.
// (R) Who sees the answer sees what came with it: settle() releases, end() acquires.
// Else relaxed: to give up tells nobody anything.

#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/protocol/message.hpp"
#include "platform/pause.hpp"

namespace nigh::coordinator {

class Handover {
 public:
  enum class Is : std::uint8_t { nothing, awaited, handed, granted, refused, unplaced };

  // ---- who waits

  void await(Ticket ticket) noexcept {
    word_.store(word(ticket, Is::awaited), sync::release);
  }  // (H)
  bool is_awaited(Ticket ticket) const noexcept {
    auto const now = word_.load(sync::relaxed);
    return now == word(ticket, Is::awaited) || now == word(ticket, Is::handed);
  }
  // The answer; nothing: there is none, and none is to come.
  Is end(Ticket ticket) noexcept {
    auto expected = word(ticket, Is::awaited);
    if (word_.compare_exchange_strong(expected, 0, sync::relaxed)) return Is::nothing;
    while ((expected = word_.load(sync::acquire)) == word(ticket, Is::handed))
      sync::pause();  // (R)
    word_.store(0, sync::relaxed);
    return static_cast<Is>(expected & states);
  }

  // ---- who listens

  // False: nobody waits for that.
  bool begin(Ticket ticket) noexcept {
    auto expected = word(ticket, Is::awaited);
    return word_.compare_exchange_strong(expected, word(ticket, Is::handed), sync::acquire);  // (H)
  }
  void settle(Ticket ticket, Is answer) noexcept {
    word_.store(word(ticket, answer), sync::release);  // (R)
  }

 private:
  static constexpr std::uint64_t states = 7;

  static constexpr std::uint64_t word(Ticket ticket, Is is) noexcept {
    return std::uint64_t{ticket} << 3 | static_cast<std::uint64_t>(is);
  }

  sync::atomic<std::uint64_t> word_{0};
};

}  // namespace nigh::coordinator
