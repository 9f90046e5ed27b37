// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "coordinator/client/handover.hpp"
#include "letters.hpp"

namespace nigh::model {
namespace {

// Answers lie in a socket in some order; whoever listens takes one and hands it to whom it is for.
struct Shared {
  coordinator::ListenerLock turn;
  Plain taken;  // out of the socket
  std::array<sync::atomic<int>, 2> answered{};
};

void wait_for(std::shared_ptr<Shared> const& s, std::size_t me) {
  auto& mine = s->answered[me];
  while (mine.load(sync::acquire) == 0) {
    if (!s->turn.try_take()) {
      s->turn.await();
      continue;
    }
    if (mine.load(sync::acquire) == 0) {
      auto const next = s->taken.get();
      check(next < 2, "there is an answer for everybody");
      s->taken.set(next + 1);
      s->answered[static_cast<std::size_t>(1 - next)].store(1, sync::release);
    }
    s->turn.give();
  }
}

Scenario two_waiting() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] { wait_for(s, 0); }, [s] { wait_for(s, 1); }};
  };
}

TEST(ListenerLock, EverybodyGetsItsAnswer) { expect_holds(two_waiting(), {.preemptions = 4}); }
TEST(ListenerLock, T) { expect_needed("handover.T", Order::relaxed, two_waiting()); }

}  // namespace
}  // namespace nigh::model
