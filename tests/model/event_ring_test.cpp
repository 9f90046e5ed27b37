// SPDX-License-Identifier: Apache-2.0
#include "trace/event_ring.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

// The ring holds two events; the reader looks while the third and fourth overwrite them.
Scenario reading_while_writing(int events) {
  return [events](OneRun& run) {
    auto ring = std::make_shared<trace::EventRing>(2);
    auto const push = [ring](int n) {
      ring->push({n + 1, trace::EventKind::steal, level::cpu, 0, static_cast<std::uint32_t>(n)});
    };
    run.threads = {[push, events] {
                     for (int n = 0; n < events; ++n) push(n);
                   },
                   [ring] {
                     auto const all = ring->read();
                     for (std::size_t i = 0; i < all.events.size(); ++i) {
                       auto const n = static_cast<std::uint32_t>(all.lost + i);
                       check(all.events[i].time_ns == n + 1 && all.events[i].count == n,
                             "an event is torn or out of place");
                     }
                   }};
    run.at_end = [ring, events] {
      auto const all = ring->read();
      check(static_cast<int>(all.lost + all.events.size()) == events, "an event is missing");
    };
  };
}

TEST(EventRing, ShowsWholeEventsOnly) {
  expect_holds(reading_while_writing(4), {.preemptions = 3, .stale_reads = 3});
}

TEST(EventRing, R) { expect_needed("ring.R", Order::relaxed, reading_while_writing(3)); }
TEST(EventRing, O) { expect_needed("ring.O", Order::relaxed, reading_while_writing(4)); }

}  // namespace
}  // namespace nigh::model
