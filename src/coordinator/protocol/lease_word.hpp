// SPDX-License-Identifier: Apache-2.0
#pragma once
// The page that a program shares with the coordinator: a word for each thread that begins regions,
// a place for answers to it (answer.hpp), what is known of the regions (region_word.hpp), hints,
// and counts. While nothing changes hands, entering and leaving a region is a compare-exchange
// here, and no message.
//
//            grant()            ask()              leave(): asked
//   none ──▶ busy ──────────▶ asked ──────────────────▶ none, and a Release is sent
//    ▲        │ ▲ leave()                                ▲
//    │        ▼ │ enter()                                │ end(): long overdue
//    └─────── idle ── take_rested() ──▶ rested ─ enter() ─▶ busy
//    └───────────────────────────────── rested
//      take_back(), take_idle(), give_back(), take_rested()
//
//   the program      enter(), leave(), give_back()        one thread per word
//   the coordinator  grant(), take_back(), take_idle(), take_rested(), end(), close() one thread
//
// The coordinator itself takes back an idle lease: a program that does other things, or is stopped,
// holds nobody up. A program that writes here harms only itself: the coordinator believes a word
// only where it names the lease that this coordinator granted at it.
// (lease.L) The next holder of the cpus begins after the region has ended: leave() releases;
//     take_back(), take_idle() and take_rested() acquire. A word that rests has been idle, and
//     nothing but compare-exchanges of the coordinator came between: they belong to the release
//     sequence of leave().
// All else is relaxed. Grants and releases travel by the socket, which orders what was written here
// before them. enter() needs no order: a word that is idle still says that no other program has had
// the cpus since leave(). For each lease leaves its word once: numbers are not used again, and all
// writes except those of grant() and close() compare first.

#include <array>
#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/protocol/answer.hpp"
#include "coordinator/protocol/region_word.hpp"

namespace nigh::coordinator {

// 62 bits of a lease's number, which is never used again, and two of its state.
class LeaseWord {
 public:
  // The result of take_back().
  enum class Found : std::uint8_t {
    taken,  // it was idle: the program has it no more
    busy,   // asked back: the program releases it when the region ends
    none,   // given back already, or the program wrote nonsense here
  };
  enum class Left : std::uint8_t { kept, asked, lost };

  // ---- the program

  bool enter(std::uint64_t lease) noexcept {
    auto expected = word(lease, idle);
    if (word_.compare_exchange_strong(expected, word(lease, busy), sync::relaxed)) return true;
    return expected == word(lease, rested) &&
           word_.compare_exchange_strong(expected, word(lease, busy), sync::relaxed);
  }
  // kept: the lease stays for the next region; asked: the program releases it with a message; lost:
  // it has ended meanwhile.
  Left leave(std::uint64_t lease) noexcept {
    auto expected = word(lease, busy);
    if (word_.compare_exchange_strong(expected, word(lease, idle), sync::release))  // (lease.L)
      return Left::kept;
    if (expected != word(lease, asked)) return Left::lost;
    return forget(lease, asked) ? Left::asked : Left::lost;
  }
  // The same as leave(), but a lease that is asked for stays as it is: false.
  bool pause(std::uint64_t lease) noexcept {
    auto expected = word(lease, busy);
    return word_.compare_exchange_strong(expected, word(lease, idle), sync::release);  // (lease.L)
  }
  // Neither asked for nor taken.
  bool is_kept(std::uint64_t lease) const noexcept {
    auto const now = word_.load(sync::relaxed);
    return now == word(lease, idle) || now == word(lease, busy) || now == word(lease, rested);
  }
  // True if the lease is the program's to release.
  bool give_back(std::uint64_t lease) noexcept {
    return forget(lease, idle) || forget(lease, rested);
  }
  // The same for a lease that came too late for its region.
  bool decline(std::uint64_t lease) noexcept { return forget(lease, busy) || forget(lease, asked); }

  // ---- the coordinator

  // Called before the message is sent: the program finds itself in the region.
  void grant(std::uint64_t lease) noexcept { word_.store(word(lease, busy), sync::relaxed); }

  Found take_back(std::uint64_t lease) noexcept {
    // A program may enter and leave meanwhile; one that does nothing else counts as busy.
    for (int i = 0; i < 100; ++i) {
      auto expected = word(lease, idle);
      if (word_.compare_exchange_strong(expected, 0, sync::acquire))  // (lease.L)
        return Found::taken;
      if (expected == word(lease, rested)) {
        if (word_.compare_exchange_strong(expected, 0, sync::acquire))  // (lease.L)
          return Found::taken;
        continue;
      }
      if (expected == word(lease, asked)) return Found::busy;
      if (expected != word(lease, busy)) return Found::none;
      if (word_.compare_exchange_strong(expected, word(lease, asked), sync::relaxed))
        return Found::busy;
    }
    return Found::busy;
  }
  // Leaves a busy lease alone.
  bool take_idle(std::uint64_t lease) noexcept {
    auto expected = word(lease, idle);
    if (word_.compare_exchange_strong(expected, 0, sync::acquire)) return true;  // (lease.L)
    return expected == word(lease, rested) &&
           word_.compare_exchange_strong(expected, 0, sync::acquire);  // (lease.L)
  }
  // The same for a lease that has been idle since the last call; otherwise the next call will know.
  bool take_rested(std::uint64_t lease) noexcept {
    auto expected = word(lease, idle);
    if (word_.compare_exchange_strong(expected, word(lease, rested), sync::relaxed)) return false;
    return expected == word(lease, rested) &&
           word_.compare_exchange_strong(expected, 0, sync::acquire);  // (lease.L)
  }
  // The program seems to have left; if it is still there, it asks before its next region.
  void close() noexcept { word_.store(0, sync::relaxed); }
  // No matter what the word says.
  void end(std::uint64_t lease) noexcept { static_cast<void>(decline(lease) || give_back(lease)); }

 private:
  static constexpr std::uint64_t rested = 0, idle = 1, busy = 2, asked = 3;

  static constexpr std::uint64_t word(std::uint64_t lease, std::uint64_t state) noexcept {
    return lease << 2 | state;
  }
  bool forget(std::uint64_t lease, std::uint64_t state) noexcept {
    auto expected = word(lease, state);
    return word_.compare_exchange_strong(expected, 0, sync::relaxed);
  }

  sync::atomic<std::uint64_t> word_{0};
};

inline constexpr std::uint32_t lease_slots = 64;

// Hints about the host for its programs, independent of each other.
struct alignas(64) Host {
  sync::atomic<std::uint32_t> programs{0};  // that it serves
};

// The program's counts of the tasks of its regions, where nigh runs them (src/openmp/tasks/), for
// people.
struct alignas(64) TaskCounts {
  sync::atomic<std::uint64_t> made{0};
  sync::atomic<std::uint64_t> stolen{0};
};

// A request's ticket says which word its lease will use, and where the answer will be: ticket
// modulo the number of words.
struct LeasePage {
  struct alignas(64) Line {
    LeaseWord word;
  };
  std::array<Line, lease_slots> lines;
  RegionWords regions;
  std::array<Answer, lease_slots> answers;
  Host host;
  TaskCounts tasks;

  LeaseWord& at(std::uint32_t ticket) noexcept { return lines[ticket % lease_slots].word; }
  Answer& answer_to(std::uint32_t ticket) noexcept { return answers[ticket % lease_slots]; }
};
// Part of the protocol: its content and layout belong to the version.
#ifndef NIGH_MODEL_ATOMICS  // which have sizes of their own
static_assert(sizeof(LeasePage::Line) == 64 && sizeof(RegionWords) == 512 * 8);
static_assert(sizeof(Answer) == 2112 && sizeof(LeasePage) == 64 * (64 + 2112) + 512 * 8 + 64 + 64);
#endif

}  // namespace nigh::coordinator
