// SPDX-License-Identifier: Apache-2.0
#include "runtime/put_count.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

struct Shared {
  tasks::SharedPutCount outside;
  tasks::PutCount first, second;  // of two threads with slots
  sync::atomic<int> handed{0};
  Plain work_of_first, work_of_second;

  bool empty() const {
    auto const finished =
        outside.finished_so_far() + first.finished_so_far() + second.finished_so_far();
    return finished == outside.put_so_far() + first.put_so_far() + second.put_so_far();
  }
};

// A task was put from outside; the first thread runs it and puts another, which the second runs.
// Somebody looks at a moment of no importance.
Scenario chain() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    s->outside.add();
    run.threads = {[s] {
                     if (!s->empty()) return;
                     check(s->work_of_first.get() == 1, "the first task has run");
                     check(s->work_of_second.get() == 1, "and what it put");
                   },
                   [s] {
                     s->first.put.add(1);
                     s->handed.store(1, sync::release);
                     s->work_of_first.set(1);
                     s->first.finish();
                   },
                   [s] {
                     while (s->handed.load(sync::acquire) == 0) sync::pause();
                     s->work_of_second.set(1);
                     s->second.finish();
                   }};
  };
}

TEST(PutCount, EmptyMeansAllHaveFinished) { expect_holds(chain()); }
TEST(PutCount, Q) { expect_needed("put_count.Q", Order::relaxed, chain()); }

}  // namespace
}  // namespace nigh::model
