// SPDX-License-Identifier: Apache-2.0
// Any sequence of events for the coordinator: programs of three users that join, ask, lie about
// leases and cpus, never give back, and die at any moment; quotas and cpusets that change. Its
// answers must agree with a ledger kept outside, and its own invariants hold after every event.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator_ledger.hpp"
#include "fuzz/messages_played.hpp"

namespace {

using namespace nigh::coordinator;

// The bytes of an input as decisions; zeros when there are no more.
class Choices {
 public:
  explicit Choices(std::span<std::uint8_t const> bytes) : bytes_(bytes) {}
  bool any_left() const { return at_ < bytes_.size(); }
  std::uint32_t below(std::uint32_t n) { return any_left() ? bytes_[at_++] % n : 0; }

 private:
  std::span<std::uint8_t const> bytes_;
  std::size_t at_ = 0;
};

CpuSet some_cpus(Choices& choices) {
  CpuSet set;
  auto const mask = choices.below(256);
  for (int c = 0; c < 8; ++c)
    if ((mask >> c & 1) != 0) set.add(c);
  if (mask == 0) set.add(static_cast<int>(choices.below(20)));
  return set;
}

Demand some_demand(Choices& choices) {
  auto const maximum = choices.below(12);
  return {maximum, choices.below(maximum + 1)};
}

// Mostly one that exists, somebody's.
LeaseId some_lease(Choices& choices, nigh::test::Ledger const& ledger) {
  auto nth = choices.below(8);
  for (auto const& [id, held] : ledger.held())
    if (nth-- == 0) return id;
  return choices.below(200);
}

ProgramMessage some_message(Choices& choices, nigh::test::Ledger const& ledger) {
  switch (choices.below(12)) {
    case 0:
    case 1:
      return Register{.allowed = some_cpus(choices)};
    case 2: {
      CpuTeam team;
      auto const first = choices.below(8);
      for (auto n = 1 + choices.below(4), c = first; n > 0; --n) team.add(static_cast<int>(c++));
      return Claim{1, choices.below(4), some_demand(choices), team};
    }
    case 3:
    case 4:
    case 5:
      return Release{1 + some_lease(choices, ledger)};
    case 6:
      return Report{choices.below(3), 1 + choices.below(9), 1 + choices.below(4) * 50'000,
                    choices.below(3) == 0 ? choices.below(last_trial + 1) : 0};
    case 7:
      return Query{choices.below(9)};
    default:
      return Request{choices.below(3),
                     choices.below(6),
                     some_demand(choices),
                     choices.below(10),
                     choices.below(2) == 0 ? 0 : some_lease(choices, ledger),
                     choices.below(2) == 0 ? 0 : 1 + choices.below(100)};
  }
}

Event some_event(Choices& choices, nigh::test::Ledger const& ledger) {
  auto const kind = choices.below(16);
  if (kind == 0) return Lost{choices.below(6)};
  if (kind == 1) return Load{some_cpus(choices), choices.below(4) == 0};
  if (kind == 2) return Tick{};
  if (kind == 3) {
    Energy energy;
    for (auto n = choices.below(3); n > 0; --n)
      energy.packages.push_back({some_cpus(choices), choices.below(256)});
    return energy;
  }
  if (kind == 4) {
    KnownRegion region{.id = choices.below(3), .is_fixed = choices.below(2) == 0};
    if (region.is_fixed) region.demand.optimal = region.demand.maximum = 1 + choices.below(12);
    for (auto n = choices.below(4); n > 0; --n)
      region.times.push_back(
          {1 + static_cast<int>(choices.below(9)), 1 + choices.below(200), choices.below(9) + 1U});
    return Known{choices.below(6), {region}};
  }
  if (kind == 5) {
    std::vector<QuotaBound> bounds;
    for (auto n = choices.below(3); n > 0; --n)
      bounds.push_back({{0, choices.below(3)}, static_cast<int>(choices.below(9))});
    return Bound{choices.below(6), std::move(bounds)};
  }
  if (kind == 6) return Allowed{choices.below(6), some_cpus(choices)};
  Connection const from = choices.below(6);
  constexpr std::uint32_t users = 3;
  return Received{from, some_message(choices, ledger), static_cast<std::uint32_t>(from) % users};
}

void play(Choices choices) {
  CoordinatorOptions options;
  options.allocation.how = static_cast<nigh::policy::CoreAllocation>(choices.below(4));
  options.allocation.scarcity.least_percent = static_cast<int>(choices.below(3)) * 50;
  options.slice_us = 10;
  options.overdue_us = 200;
  options.overdue_between_users_us = 40;
  options.active_us = 100;
  options.requests = {10, 2};
  options.line = 6;
  options.line_of_a_user = 2;
  options.round_us = 20;
  options.shortest_slice_us = 4;
  options.want_us = 100;
  options.keep_us = 20;
  options.claims_us = 100;
  options.programs = 4;
  options.open_requests = 5;
  Time now = 0;
  Coordinator machine(nigh::test::small_machine({3, 1, 4}), options, now);
  nigh::test::Ledger ledger;
  while (choices.any_left()) {
    auto const event = some_event(choices, ledger);
    if (std::holds_alternative<Received>(event)) ++fuzz::messages_played;
    now += choices.below(8) == 0 ? choices.below(256) : choices.below(4);
    ledger.note(event);
    ledger.note(event, machine.step(event, now));
    machine.check();
    auto const tick = machine.next_tick();
    if (tick && *tick <= now) throw std::runtime_error("a tick is due that has just been");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  try {
    play(Choices({data, size}));
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    std::abort();
  }
  return 0;
}
