// SPDX-License-Identifier: Apache-2.0
#include "runtime/lock.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Shared {
  tasks::Lock lock;
  Plain count;
};

Scenario counting(int threads) {
  return [threads](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto const add = [s] {
      s->lock.lock();
      s->count.set(s->count.get() + 1);
      s->lock.unlock();
    };
    run.threads.assign(static_cast<std::size_t>(threads), add);
    run.at_end = [s, threads] { check(s->count.get() == threads, "lost an update"); };
  };
}

TEST(Lock, ExcludesAndNeverForgetsASleeper) {
  expect_holds(counting(2), {.preemptions = 4});
  expect_holds(counting(3));
}

TEST(Lock, L) { expect_needed("lock.L", Order::relaxed, counting(2)); }

}  // namespace
}  // namespace nigh::model
