// SPDX-License-Identifier: Apache-2.0
// The coordinator keeps its promises whatever comes first.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator_ledger.hpp"

namespace nigh::coordinator {
namespace {

#ifdef NIGH_SANITIZED
constexpr int events_in_turn = 5, steps_at_least = 5'000;
#else
constexpr int events_in_turn = 6, steps_at_least = 50'000;
#endif

// Every sequence of so many events of two programs on two cpus. The ledger throws, check() aborts.
class EveryOrder {
 public:
  void explore(Coordinator const& machine, test::Ledger const& ledger, Time now, int left) {
    if (left == 0) return;
    LeaseId lease_of[3] = {};
    for (auto const& [id, held] : ledger.held()) lease_of[held.by] = id;
    std::vector<std::pair<Event, Time>> events{{Tick{}, 10}, {Tick{}, 100}};
    CpuSet both, one;
    both.add(0), both.add(1), one.add(1);
    for (Connection c : {Connection{1}, Connection{2}}) {
      events.push_back({Lost{c}, 0});
      if (!ledger.is_alive(c)) {
        events.push_back({Received{c, Register{.allowed = c == 1 ? both : one}}, 0});
        continue;
      }
      events.push_back({Received{c, Request{.demand = {2, 1}, .returned = lease_of[c]}}, 0});
      events.push_back({Received{c, Request{.ticket = 1, .demand = {2, 2}}}, 1});
      events.push_back({Received{c, Request{.ticket = 2, .demand = {2, 2}, .patience_us = 5}}, 1});
      for (LeaseId id : {lease_of[1], lease_of[2]})
        if (id != 0) events.push_back({Received{c, Release{id}}, 0});
    }
    for (auto const& [event, later] : events) {
      auto copy = machine;
      auto noted = ledger;
      noted.note(event);
      noted.note(event, copy.step(event, now + later));
      copy.check();
      ++steps;
      explore(copy, noted, now + later, left - 1);
    }
  }
  long steps = 0;
};

TEST(Coordinator, KeepsItsPromisesInEveryOrderOfEvents) {
  for (int percent : {0, 100}) {
    CoordinatorOptions options;
    options.allocation.scarcity.least_percent = percent;
    options.slice_us = 10;
    options.overdue_us = 100;
    options.want_us = 50;
    options.keep_us = 5;
    Coordinator const machine(test::small_machine({1, 1}), options, 0);
    EveryOrder all;
    all.explore(machine, {}, 0, events_in_turn);
    EXPECT_GT(all.steps, steps_at_least);
  }
}

}  // namespace
}  // namespace nigh::coordinator
