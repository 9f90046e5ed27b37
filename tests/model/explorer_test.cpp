// SPDX-License-Identifier: Apache-2.0
// The explorer itself: does it find what the C++ memory model allows, and nothing else? The classic
// litmus tests.

#include <memory>

#include "letters.hpp"
#include "model_atomic.hpp"

namespace nigh::model {
namespace {

struct Two {
  sync::atomic<int> x{0}, y{0};
  Plain data;
  int r1 = -1, r2 = -1;
};

Scenario store_buffering(Order order) {
  return [order](OneRun& run) {
    auto s = std::make_shared<Two>();
    run.threads = {[s, order] {
                     s->x.store(1, order == sync::acquire ? sync::release : order);
                     s->r1 = s->y.load(order);
                   },
                   [s, order] {
                     s->y.store(1, order == sync::acquire ? sync::release : order);
                     s->r2 = s->x.load(order);
                   }};
    run.at_end = [s] { check(s->r1 + s->r2 > 0, "both read zero"); };
  };
}

Scenario message_passing(Order publish, Order consume) {
  return [=](OneRun& run) {
    auto s = std::make_shared<Two>();
    run.threads = {[=] {
                     s->data.set(7);
                     s->x.store(1, publish);
                   },
                   [=] {
                     if (s->x.load(consume) == 1) check(s->data.get() == 7, "old data");
                   }};
  };
}

TEST(Explorer, StoreBufferingNeedsSeqCst) {
  expect_holds(store_buffering(sync::seq_cst));
  EXPECT_EQ(explore({}, store_buffering(sync::acquire)).failure, "both read zero");
}

TEST(Explorer, MessagePassingNeedsReleaseAndAcquire) {
  expect_holds(message_passing(sync::release, sync::acquire));
  EXPECT_NE(explore({}, message_passing(sync::relaxed, sync::acquire)).failure, "");
  EXPECT_NE(explore({}, message_passing(sync::release, sync::relaxed)).failure, "");
}

TEST(Explorer, OneLocationIsCoherent) {
  expect_holds([](OneRun& run) {
    auto s = std::make_shared<Two>();
    run.threads = {[s] {
                     s->x.store(1, sync::relaxed);
                     s->x.store(2, sync::relaxed);
                   },
                   [s] {
                     s->r1 = s->x.load(sync::relaxed);
                     s->r2 = s->x.load(sync::relaxed);
                     check(s->r1 <= s->r2, "went back in time");
                   }};
  });
}

TEST(Explorer, FindsLostUpdatesDeadlockAndLivelock) {
  EXPECT_EQ(explore({},
                    [](OneRun& run) {
                      auto s = std::make_shared<Two>();
                      auto const add = [s] {
                        s->x.store(s->x.load(sync::seq_cst) + 1, sync::seq_cst);
                      };
                      run.threads = {add, add};
                      run.at_end = [s] { check(s->x.load(sync::seq_cst) == 2, "lost an update"); };
                    })
                .failure,
            "lost an update");
  EXPECT_NE(explore({},
                    [](OneRun& run) {
                      auto s = std::make_shared<Two>();
                      run.threads = {[s] { futex_wait(s->x.location_id(), 0); }};
                    })
                .failure.find("deadlock"),
            std::string::npos);
  EXPECT_NE(explore({},
                    [](OneRun& run) {
                      auto s = std::make_shared<Two>();
                      run.threads = {[s] {
                        while (s->x.load(sync::relaxed) == 0) sync::pause();
                      }};
                    })
                .failure.find("livelock"),
            std::string::npos);
}

}  // namespace
}  // namespace nigh::model
