// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/handover.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

using coordinator::Handover;
using Is = Handover::Is;

// The data of an answer belongs to the waiting thread, except between begin() and settle().
struct Shared {
  Handover answer;
  Plain lease;
};

// Waits for so many looks, and then no longer.
void wait(Shared& s, coordinator::Ticket ticket, int looks) {
  s.lease.set(-1);
  s.answer.await(ticket);
  for (int i = 0; i < looks && s.answer.is_awaited(ticket); ++i) sync::pause();
  auto const is = s.answer.end(ticket);
  if (is == Is::granted)
    check(s.lease.get() == static_cast<int>(ticket), "the lease is that of this request");
  else
    s.lease.set(-2);  // nobody writes there any more
  check(is == Is::granted || is == Is::nothing, "it is granted, or given up");
}

void hear_grant(Shared& s, coordinator::Ticket ticket) {
  if (!s.answer.begin(ticket)) return;
  s.lease.set(static_cast<int>(ticket));
  s.answer.settle(ticket, Is::granted);
}

// The waiting thread gives up while the answer comes.
Scenario giving_up(int looks) {
  return [looks](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s, looks] { wait(*s, 1, looks); }, [s] { hear_grant(*s, 1); }};
  };
}

// The answer to a request that was given up comes while the next one waits.
Scenario answering_late() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] {
                     wait(*s, 1, 0);
                     wait(*s, 2, 1);
                   },
                   [s] {
                     hear_grant(*s, 1);
                     hear_grant(*s, 2);
                   }};
  };
}

TEST(Handover, IsOfOneAnswerOrNone) {
  for (int looks : {0, 1, 2}) expect_holds(giving_up(looks), {.preemptions = 3, .stale_reads = 2});
}
TEST(Handover, TakesNoAnswerForAnother) {
  expect_holds(answering_late(), {.preemptions = 3, .stale_reads = 2});
}
TEST(Handover, H) { expect_needed("handover.H", Order::relaxed, giving_up(1)); }
TEST(Handover, R) { expect_needed("handover.R", Order::relaxed, giving_up(2)); }

}  // namespace
}  // namespace nigh::model
