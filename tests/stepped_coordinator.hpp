// SPDX-License-Identifier: Apache-2.0
#pragma once
// A coordinator that a test steps by hand. The test has its clock and the messages of the last
// step. A ledger checks every message.

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator_ledger.hpp"

namespace nigh::test {

inline constexpr coordinator::Time slice = 1000, overdue = 50'000;

inline coordinator::CpuSet cpus(int begin, int end) {
  coordinator::CpuSet set;
  for (int c = begin; c < end; ++c) set.add(c);
  return set;
}

class SteppedCoordinator : public testing::Test {
 protected:
  SteppedCoordinator(std::vector<int> sets, coordinator::CoordinatorOptions const& options,
                     coordinator::Time now)
      : now_(now), machine_(small_machine(std::move(sets)), options, now) {}

  std::vector<coordinator::Send> const& step(coordinator::Event const& event) {
    ledger_.note(event);
    sent_ = machine_.step(event, now_);
    machine_.check();
    ledger_.note(event, sent_);
    return sent_;
  }
  std::vector<coordinator::Send> const& after(coordinator::Time us) {
    now_ += us;
    return step(coordinator::Tick{});
  }
  // The last message of that kind to c, in the step before.
  template <class M>
  std::optional<M> last(coordinator::Connection c) const {
    std::optional<M> found;
    for (auto const& s : sent_)
      if (auto const* m = std::get_if<M>(&s.message); m != nullptr && s.to == c) found = *m;
    return found;
  }
  int granted(coordinator::Connection c) const {
    auto const g = last<coordinator::Grant>(c);
    return g ? g->team.size() : 0;
  }

  coordinator::Time now_;
  coordinator::Coordinator machine_;
  Ledger ledger_;
  std::vector<coordinator::Send> sent_;
};

}  // namespace nigh::test
