// SPDX-License-Identifier: Apache-2.0
// How the thread in run() is called, in the order of steps that src/cluster/agent.cpp takes.

#include "cluster/lookout.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

using cluster::Lookout;

struct Run {
  Lookout lookout{nullptr};
  sync::atomic<bool> is_over{false};
  sync::atomic<int> idle{0};
};

// A thread that sees the end calls; the sleeping thread sleeps for ever unless it sees the end or
// hears the call.
Scenario ending() {
  return [](OneRun& run) {
    auto r = std::make_shared<Run>();
    run.threads = {[r] {
                     r->is_over.store(true, sync::relaxed);
                     r->lookout.call();
                   },
                   [r] {
                     for (;;) {
                       auto const calls = r->lookout.calls();
                       if (r->is_over.load(sync::relaxed)) return;
                       r->lookout.sleep(calls, [] { return Lookout::long_sleep; });
                     }
                   }};
  };
}

// A worker that goes to sleep finds the thread in a long sleep, or is found before that begins.
Scenario nobody_left() {
  return [](OneRun& run) {
    auto r = std::make_shared<Run>();
    run.threads = {[r] {
                     r->idle.fetch_add(1, sync::seq_cst);
                     r->lookout.call_from_more_than(Lookout::short_sleep);
                   },
                   [r] {
                     r->lookout.sleep(r->lookout.calls(), [r] {
                       return r->idle.load(sync::seq_cst) > 0 ? Lookout::short_sleep
                                                              : Lookout::long_sleep;
                     });
                   }};
  };
}

TEST(Lookout, SleepsLongOnlyWhileNobodyNeedsIt) {
  expect_holds(ending());
  expect_holds(nobody_left());
}
TEST(Lookout, C) { expect_needed("lookout.C", Order::relaxed, ending()); }
TEST(Lookout, N) { expect_needed("lookout.N", Order::acq_rel, nobody_left()); }

}  // namespace
}  // namespace nigh::model
