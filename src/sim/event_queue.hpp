// SPDX-License-Identifier: Apache-2.0
#pragma once
// What will happen, and when: the virtual clock.
//
// Events come in the order of their times; those of one time in the order in which they were
// posted. So a simulation that draws its random numbers from a seed is the same each time. An event
// is four words and means what its actor takes it for; one that no longer applies is left in, and
// its actor ignores it.

#include <cstddef>
#include <cstdint>
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
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  Event const& next() const noexcept { return heap_.front(); }
  std::uint64_t posted() const noexcept { return posted_; }

  void post(Time at, Actor actor, std::uint32_t what) {
    NIGH_ASSERT(at >= now_, "nothing happens in the past");
    Event const e{at, posted_++, actor, what};
    heap_.push_back(e);
    rise(heap_.size() - 1, e);
  }

  // Takes the next event and sets the clock to its time.
  Event pop() noexcept {
    Event const e = heap_.front();
    now_ = e.at;
    Event const last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return e;
  }

  // For what is not an event of this queue: the next one must not be earlier.
  void advance(Time to) noexcept {
    NIGH_DEBUG_ASSERT(to >= now_ && (empty() || to <= next().at), "the clock skips no event");
    now_ = to;
  }

 private:
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

  std::vector<Event> heap_;
  std::uint64_t posted_ = 0;
  Time now_ = 0;
};

}  // namespace nigh::sim
