// SPDX-License-Identifier: Apache-2.0
#include "platform/number_lock.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Shared {
  platform::NumberLock lock;
  Plain meaning;  // of the number
  sync::atomic<int> users{0};
};

void use(std::shared_ptr<Shared> const& s) {
  s->lock.share();
  s->users.fetch_add(1, sync::relaxed);
  static_cast<void>(s->meaning.get());
  s->users.fetch_sub(1, sync::relaxed);
  s->lock.unshare();
}

void change(std::shared_ptr<Shared> const& s) {
  s->lock.take();
  check(s->users.load(sync::relaxed) == 0, "nobody uses what changes");
  s->meaning.set(s->meaning.get() + 1);
  s->lock.give();
}

Scenario two_users_and_a_change() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] { use(s); }, [s] { use(s); }, [s] { change(s); }};
  };
}

Scenario a_user_and_two_changes() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    run.threads = {[s] { use(s); }, [s] { change(s); }, [s] { change(s); }};
    run.at_end = [s] { check(s->meaning.get() == 2, "no change is lost"); };
  };
}

TEST(NumberLock, NobodyUsesWhatChanges) {
  expect_holds(two_users_and_a_change(), {.preemptions = 3});
}
TEST(NumberLock, ChangesComeOneByOne) {
  expect_holds(a_user_and_two_changes(), {.preemptions = 3});
}
TEST(NumberLock, N) { expect_needed("number_lock.N", Order::relaxed, a_user_and_two_changes()); }

}  // namespace
}  // namespace nigh::model
