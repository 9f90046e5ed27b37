// SPDX-License-Identifier: Apache-2.0
#include "runtime/locality_queue.hpp"

#include <array>
#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

using Queue = tasks::LocalityQueue<Plain>;

struct Shared {
  explicit Shared(std::size_t capacity) : queue(capacity) {}

  void push(int first, int count) {
    std::array<Plain, 2> items{Plain(first), Plain(first + 1)};
    while (!queue.push({items.data(), static_cast<std::size_t>(count)})) sync::pause();
  }

  // One take, of up to two.
  void take() {
    std::array<Plain, 2> out;
    std::size_t taken = 0;
    auto const outcome = queue.take(out, taken, [](std::size_t n) { return n; });
    check((outcome == tasks::Take::taken) == (taken > 0), "a taker got something");
    for (std::size_t i = 0; i < taken; ++i) ++seen[static_cast<std::size_t>(out[i].get())];
    // 0 and 1 are always pushed together, in this order.
    check(taken < 2 || out[0].get() != 1 || out[1].get() != 0, "oldest first");
  }

  // The rest of the tasks, and a check that each came once.
  void finish(int pushed) {
    while (!queue.empty()) take();
    for (int i = 0; i < pushed; ++i)
      check(seen[static_cast<std::size_t>(i)] == 1, "each task once");
  }

  Queue queue;
  std::array<int, 8> seen{};
};

// A slot is used again: capacity 2, three tasks.
Scenario reuse() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>(2);
    run.threads = {[s] {
                     s->push(0, 1);
                     s->push(1, 1);
                     s->push(2, 1);
                   },
                   [s] {
                     for (int i = 0; i < 2; ++i) {
                       s->take();
                       sync::pause();
                     }
                     while (s->seen[0] == 0) {
                       s->take();
                       sync::pause();
                     }
                   }};
    run.at_end = [s] { s->finish(3); };
  };
}

Scenario two_takers() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>(4);
    run.threads = {[s] {
                     s->push(0, 2);
                     s->push(2, 1);
                   },
                   [s] { s->take(); }, [s] { s->take(); }};
    run.at_end = [s] { s->finish(3); };
  };
}

Scenario two_pushers() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>(4);
    run.threads = {[s] { s->push(0, 2); }, [s] { s->push(2, 1); },
                   [s] {
                     s->take();
                     s->take();
                   }};
    run.at_end = [s] { s->finish(3); };
  };
}

// A worker refills its ring when it finds nothing there, and relies on the chunk to fit.
Scenario refill(bool owner_waits) {
  return [owner_waits](OneRun& run) {
    auto s = std::make_shared<Shared>(2);
    auto const one = [](std::size_t) { return std::size_t{1}; };
    run.threads = {[s, one, owner_waits] {
                     s->push(0, 2);
                     std::array<Plain, 1> out;
                     std::size_t taken = 0;
                     auto const outcome = owner_waits ? s->queue.take(out, taken, one)
                                                      : s->queue.try_take(out, taken, one);
                     if (outcome == tasks::Take::taken) return;
                     std::array<Plain, 2> const chunk{Plain(2), Plain(3)};
                     check(s->queue.push(chunk), "a chunk goes into an empty ring");
                   },
                   [s, one] {
                     for (int theft = 0; theft < 2; ++theft) {
                       std::array<Plain, 1> out;
                       std::size_t taken = 0;
                       s->queue.try_take(out, taken, one);
                     }
                   }};
  };
}

TEST(LocalityQueue, AnOwnerThatWaitsFindsItsRingEmptyWhenToldSo) {
  expect_holds(refill(true));
  EXPECT_EQ(explore({}, refill(false)).failure, "a chunk goes into an empty ring");
}

TEST(LocalityQueue, EachTaskOnceInOrder) {
  expect_holds(reuse());
  expect_holds(two_takers());
  expect_holds(two_pushers());
}

TEST(LocalityQueue, A) { expect_needed("queue.A", Order::relaxed, two_takers()); }
TEST(LocalityQueue, B) { expect_needed("queue.B", Order::relaxed, reuse()); }

TEST(LocalityQueue, RefusesWhatDoesNotFit) {
  expect_holds([](OneRun& run) {
    auto s = std::make_shared<Shared>(2);
    run.at_end = [s] {
      std::array<Plain, 2> const two{Plain(0), Plain(1)};
      check(s->queue.push({two.data(), 1}), "room for one");
      check(!s->queue.push({two.data(), 2}), "no room for two more");
      check(s->queue.size() == 1, "nothing went in by halves");
    };
  });
}

}  // namespace
}  // namespace nigh::model
