// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a waking thread finds the answer to its request, in the page that its program shares with
// the coordinator: one place for each thread that begins regions. A message would cost as much as
// all that the coordinator does for the request.
//
//             await()            settle()
//   nobody ──────────▶ awaited ──────────▶ answered
//     ▲                   │                   │
//     └──── sleep() ──────┘                   └──▶ await(), of the next request
//
//   the program      await() before it sends its request; is_answered(), sleep()    one thread
//   the coordinator  is_awaited(), settle()                                         one thread
//
// A coordinator that does not find the program's thread awake sends a Grant. The word says which
// request it is about, so that an answer that comes too late is not taken for the next request's.
// The coordinator believes nothing else here: a program can deceive only itself.
//
// (answer.A) A thread that sees the answer sees the lease: settle() releases, is_answered() and
//     sleep() acquire.
// All else is relaxed. A request travels by the socket, which orders what was read here before it.

#include <array>
#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

class AnswerWord {
 public:
  // ---- the program

  void await(Ticket ticket) noexcept { word_.store(word(ticket, awaited), sync::relaxed); }
  bool is_answered(Ticket ticket) const noexcept {
    return word_.load(sync::acquire) == word(ticket, answered);  // (answer.A)
  }
  // True if the answer has come meanwhile; otherwise it will be a message.
  bool sleep(Ticket ticket) noexcept {
    auto expected = word(ticket, awaited);
    bool const is_asleep = word_.compare_exchange_strong(expected, 0, sync::acquire);  // (answer.A)
    return !is_asleep && expected == word(ticket, answered);
  }

  // ---- the coordinator

  bool is_awaited(Ticket ticket) const noexcept {
    return word_.load(sync::relaxed) == word(ticket, awaited);
  }
  // False if the thread is not awake any more.
  bool settle(Ticket ticket) noexcept {
    auto expected = word(ticket, awaited);
    return word_.compare_exchange_strong(expected, word(ticket, answered),
                                         sync::release);  // (answer.A)
  }

 private:
  static constexpr std::uint64_t awaited = 1, answered = 2;

  static constexpr std::uint64_t word(Ticket ticket, std::uint64_t state) noexcept {
    return std::uint64_t{ticket} << 2 | state;
  }

  sync::atomic<std::uint64_t> word_{0};
};

// The part of a Grant that the program needs, or an Unplaced, which is no lease on no cpus. Both
// sides copy only the cpus that there are.
struct alignas(64) Answer {
  AnswerWord word;
  LeaseId lease = 0;
  std::uint32_t size = 0;
  std::uint32_t floats = 0;  // or 1
  std::array<std::uint16_t, max_cpus> cpus{};

  // By the coordinator. False: the answer must be a message.
  bool put(Grant const& grant) noexcept {
    if (!word.is_awaited(grant.ticket)) return false;
    lease = grant.lease;
    floats = grant.floats;
    auto const count = static_cast<std::uint32_t>(grant.team.size());
    size = count;  // not read again here: the program may write something else meanwhile
    for (std::uint32_t i = 0; i < count; ++i)
      cpus[i] = static_cast<std::uint16_t>(grant.team[static_cast<int>(i)]);
    return word.settle(grant.ticket);
  }
  bool put(Unplaced const& message) noexcept {
    if (!word.is_awaited(message.ticket)) return false;
    lease = 0;
    size = 0;
    return word.settle(message.ticket);
  }

  // By the program, when it is answered.
  bool is_unplaced() const noexcept { return lease == 0 && size == 0; }
  // A message that is no Grant makes the answer invalid.
  Grant get(Ticket ticket) const noexcept {
    Grant grant{.lease = lease, .ticket = ticket, .wanted = 0, .floats = 0, .team = {}};
    grant.floats = static_cast<std::uint8_t>(floats != 0 ? 1 : 0);
    auto const count = size;
    if (count > max_cpus) return {};
    for (std::uint32_t i = 0; i < count; ++i) {
      if (cpus[i] >= max_cpus) return {};
      grant.team.add(cpus[i]);
    }
    return grant;
  }
};

}  // namespace nigh::coordinator
