// SPDX-License-Identifier: Apache-2.0
#include "base/try_lock.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Shared {
  base::TryLock lock;
  Plain count;
  int added = 0, went_on = 0;
};

Scenario adding() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    auto const add = [s] {
      for (int i = 0; i < 2; ++i) {
        if (!s->lock.try_lock()) {
          ++s->went_on;
          continue;
        }
        s->count.set(s->count.get() + 1);
        ++s->added;
        s->lock.unlock();
      }
    };
    run.threads = {add, add};
    run.at_end = [s] {
      check(s->count.get() == s->added && s->added + s->went_on == 4, "no addition is lost");
      check(s->added >= 2, "a thread goes on only while another has the lock");
    };
  };
}

TEST(TryLock, IsHadByOneThreadAtATime) { expect_holds(adding(), {.preemptions = 3}); }
TEST(TryLock, T) { expect_needed("try_lock.T", Order::relaxed, adding()); }

}  // namespace
}  // namespace nigh::model
