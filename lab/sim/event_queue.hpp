// SPDX-License-Identifier: Apache-2.0
#pragma once
// The virtual clock: coming events and their times.
//
// Events come in the order of their times; those of one time in the order in which they were
// posted. So a simulation that draws its random numbers from a seed is the same each time. An event
// is four words and means what its actor takes it for; one that no longer applies is left in, and
// its actor ignores it.
//
// Most events come soon. Those within `reach` of now lie in a ring of slots, one a nanosecond, each
// a list in order of posting, so that to post and to take cost the same for a hundred events as for
// a million; later ones wait in a heap.
//
// Invariant: the ring holds all events before now + reach, the heap those from there on. The clock
// moves only in settle(), which at once takes over what has come within reach. So an event of the
// heap is in its slot before any other can be posted there, and the slot's order is that of
// posting.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

using Actor = std::uint32_t;

struct Event {
  Time at = 0;
  std::uint64_t order = 0;
  Actor actor = 0;
  std::uint32_t what = 0;

  constexpr bool before(Event const& o) const noexcept {
    return at != o.at ? at < o.at : order < o.order;
  }
};

class EventQueue {
 public:
  Time now() const noexcept { return now_; }
  bool empty() const noexcept { return size() == 0; }
  std::size_t size() const noexcept { return near_ + heap_.size(); }
  std::uint64_t posted() const noexcept { return posted_; }
  Event const& next() const noexcept {
    return near_ > 0 ? nodes_[slots_[first_slot()].head].event : heap_.front();
  }

  void post(Time at, Actor actor, std::uint32_t what) {
    NIGH_ASSERT(at >= now_, "nothing happens in the past");
    Event const e{at, posted_++, actor, what};
    if (at - now_ < reach) return add_near(e);
    heap_.push_back(e);
    rise(heap_.size() - 1, e);
  }

  // Takes the next event and sets the clock to its time.
  Event pop() {
    if (near_ == 0) settle(heap_.front().at);
    auto const s = first_slot();
    auto& slot = slots_[s];
    auto const n = slot.head;
    Event const e = nodes_[n].event;
    if (n == slot.tail)
      clear(s);
    else
      slot.head = nodes_[n].next;
    nodes_[n].next = free_;
    free_ = n;
    --near_;
    if (e.at != now_) settle(e.at);
    return e;
  }

  // The actor of the event that comes `after` others, the next one being 0, if that is at hand: to
  // fetch early what is known of it. Looks no farther than that one's moment.
  Actor const* upcoming(int after) const noexcept {
    if (near_ == 0) return nullptr;
    auto const& slot = slots_[first_slot()];
    auto n = slot.head;
    for (; after > 0; --after) {
      if (n == slot.tail) return nullptr;
      n = nodes_[n].next;
    }
    return &nodes_[n].event.actor;
  }

  // For what is not an event of this queue: the next one must not be earlier.
  void advance(Time to) {
    NIGH_DEBUG_ASSERT(to >= now_ && (empty() || to <= next().at), "the clock skips no event");
    settle(to);
  }

 private:
  static constexpr Time reach = 1 << 16;

  struct Node {
    Event event;
    std::uint32_t next;
  };
  struct Slot {
    std::uint32_t head, tail;  // nodes; without meaning where the slot's bit is not set
  };
  static constexpr std::uint32_t none = 0xffffffff;

  void settle(Time to) {
    now_ = to;
    while (!heap_.empty() && heap_.front().at - now_ < reach) {
      add_near(heap_.front());
      Event const last = heap_.back();
      heap_.pop_back();
      if (!heap_.empty()) sink(last);
    }
  }

  void add_near(Event const& e) {
    std::uint32_t n = free_;
    if (n == none) {
      n = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({e, none});
    } else {
      free_ = nodes_[n].next;
      nodes_[n].event = e;
    }
    if (slots_ == nullptr) slots_ = std::make_unique_for_overwrite<Slot[]>(reach);
    auto const s = static_cast<std::size_t>(e.at) % reach;
    auto& word = words_[s / 64];
    if ((word >> s % 64 & 1) != 0) {
      nodes_[slots_[s].tail].next = n;
      slots_[s].tail = n;
    } else {
      slots_[s] = {n, n};
      word |= bit(s);
      groups_[s / 64 / 64] |= bit(s / 64);
      top_ |= bit(s / 64 / 64);
    }
    ++near_;
  }

  // Three storeys of bits: slots that hold something, words of those that are not 0, and again.
  static constexpr std::uint64_t bit(std::size_t n) noexcept { return std::uint64_t{1} << n % 64; }
  static constexpr std::uint64_t after(std::uint64_t bits, std::size_t n) noexcept {
    return n % 64 == 63 ? 0 : bits & (~std::uint64_t{0} << (n % 64 + 1));
  }
  static std::size_t lowest(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>(std::countr_zero(bits));
  }

  void clear(std::size_t s) noexcept {
    if ((words_[s / 64] &= ~bit(s)) != 0) return;
    if ((groups_[s / 64 / 64] &= ~bit(s / 64)) != 0) return;
    top_ &= ~bit(s / 64 / 64);
  }

  // The first one at or after now's slot, around the ring; there is one.
  std::size_t first_slot() const noexcept {
    auto const s = static_cast<std::size_t>(now_) % reach;
    if (auto const here = words_[s / 64] & (~std::uint64_t{0} << s % 64); here != 0)
      return s / 64 * 64 + lowest(here);
    auto const g = s / 64 / 64;
    if (auto const near = after(groups_[g], s / 64); near != 0)
      return slot_in(g * 64 + lowest(near));
    auto const later = after(top_, g);
    auto const group = lowest(later != 0 ? later : top_);
    return slot_in(group * 64 + lowest(groups_[group]));
  }
  std::size_t slot_in(std::size_t word) const noexcept { return word * 64 + lowest(words_[word]); }

  // A heap of four children: half the levels of a binary one, and children lie together.
  static constexpr std::size_t width = 4;

  void rise(std::size_t at, Event const& e) noexcept {
    while (at > 0) {
      auto const parent = (at - 1) / width;
      if (!e.before(heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = e;
  }

  void sink(Event const& e) noexcept {
    auto const n = heap_.size();
    std::size_t at = 0;
    for (;;) {
      auto const first = at * width + 1;
      if (first >= n) break;
      auto least = first;
      for (auto child = first + 1; child < first + width && child < n; ++child)
        if (heap_[child].before(heap_[least])) least = child;
      if (!heap_[least].before(e)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = e;
  }

  std::unique_ptr<Slot[]> slots_;  // [time % reach]
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(reach / 64);
  std::vector<std::uint64_t> groups_ = std::vector<std::uint64_t>(reach / 64 / 64);
  std::uint64_t top_ = 0;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::size_t near_ = 0;
  std::vector<Event> heap_;
  std::uint64_t posted_ = 0;
  Time now_ = 0;
};

}  // namespace nigh::sim
