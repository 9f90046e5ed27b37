// SPDX-License-Identifier: Apache-2.0
#pragma once
// The last events of one worker: a ring of fixed size that overwrites the oldest.
//
//   writer   push()   one thread, never waits
//   reader   read()   any thread, at any time; leaves out events overwritten meanwhile
//
// Event n lies in slot n % capacity. next_ counts the events pushed.
// (ring.R) A reader sees whole events: push() releases next_ after it wrote the event, read()
// acquires next_ first.
// (ring.O) A reader knows which events were overwritten while it read: event n is written after
// next_ became n, and is released; a reader that acquires a part of it sees next_ >= n afterwards,
// and drops n - capacity and all before.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "trace/event.hpp"

namespace nigh::trace {

class EventRing {
 public:
  explicit EventRing(std::size_t capacity)
      : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1),
        slots_(std::make_unique<Slot[]>(mask_ + 1)) {}

  void push(Event const& e) noexcept {
    auto const n = next_.load(sync::relaxed);
    Slot& slot = slots_[n & mask_];
    slot.time.store(static_cast<std::uint64_t>(e.time_ns), sync::release);  // (ring.O)
    slot.rest.store(packed(e), sync::release);                              // (ring.O)
    next_.store(n + 1, sync::release);                                      // (ring.R)
  }

  struct Contents {
    std::vector<Event> events;  // oldest first
    std::uint64_t lost = 0;     // older ones that were overwritten
  };

  // The last capacity - 1 events, fewer while the writer is at work: it may be writing the oldest
  // slot.
  Contents read() const {
    Contents all;
    auto const end = next_.load(sync::acquire);  // (ring.R)
    auto const begin = oldest_whole(end);
    all.events.reserve(end - begin);
    for (auto n = begin; n < end; ++n) {
      Slot const& slot = slots_[n & mask_];
      auto const time = slot.time.load(sync::acquire);  // (ring.O)
      auto const rest = slot.rest.load(sync::acquire);  // (ring.O)
      all.events.push_back(unpacked(time, rest));
    }
    all.lost = std::min(oldest_whole(next_.load(sync::relaxed)), end);
    all.events.erase(all.events.begin(),
                     all.events.begin() + static_cast<std::ptrdiff_t>(all.lost - begin));
    return all;
  }

 private:
  struct Slot {
    sync::atomic<std::uint64_t> time{0}, rest{0};
  };

  // With `next` events pushed, event `next` may be overwriting the one a lap before it.
  std::uint64_t oldest_whole(std::uint64_t next) const noexcept {
    return next > mask_ ? next - mask_ : 0;
  }

  static std::uint64_t packed(Event const& e) noexcept {
    return static_cast<std::uint64_t>(e.kind) | static_cast<std::uint64_t>(e.where) << 8 |
           std::uint64_t{e.victim} << 16 | std::uint64_t{e.count} << 32;
  }
  static Event unpacked(std::uint64_t time, std::uint64_t rest) noexcept {
    return {static_cast<std::int64_t>(time), static_cast<EventKind>(rest & 0xff),
            static_cast<level>(rest >> 8 & 0xff), static_cast<std::uint16_t>(rest >> 16 & 0xffff),
            static_cast<std::uint32_t>(rest >> 32)};
  }

  std::size_t const mask_;
  std::unique_ptr<Slot[]> const slots_;
  sync::atomic<std::uint64_t> next_{0};
};

}  // namespace nigh::trace
