// SPDX-License-Identifier: Apache-2.0
#include "runtime/quiescence.hpp"

#include <memory>

#include "letters.hpp"

namespace nigh::model {
namespace {

using tasks::Quiescence;
using tasks::SharedTaskCount;
using tasks::TaskCount;

struct Shared {
  Quiescence quiescence;
  SharedTaskCount outside;
  TaskCount first, second;  // of two workers
  sync::atomic<int> handed{0};
  Plain work_of_first, work_of_second;

  bool all_done() const {
    auto const finished =
        outside.finished_so_far() + first.finished_so_far() + second.finished_so_far();
    return finished == outside.spawned_so_far() + first.spawned_so_far() + second.spawned_so_far();
  }
  void report(TaskCount& mine) {
    mine.publish();
    quiescence.tell_if_done([&] { return all_done(); });
  }
};

// The waiter has spawned a task; the first worker runs it and spawns another, for the second.
Scenario chain() {
  return [](OneRun& run) {
    auto s = std::make_shared<Shared>();
    s->outside.count_spawned();
    run.threads = {[s] {
                     s->quiescence.wait([&] { return s->all_done(); });
                     check(s->work_of_first.get() == 1, "the first task has run");
                     check(s->work_of_second.get() == 1, "and what it spawned");
                   },
                   [s] {
                     s->work_of_first.set(1);
                     s->first.count_spawned();
                     s->handed.store(1, sync::release);
                     s->first.count_finished();
                     s->report(s->first);
                   },
                   [s] {
                     while (s->handed.load(sync::acquire) == 0) sync::pause();
                     s->work_of_second.set(1);
                     s->second.count_finished();
                     s->report(s->second);
                   }};
  };
}

TEST(Quiescence, WaitsForAllAndWakes) { expect_holds(chain()); }
TEST(Quiescence, Q) { expect_needed("quiescence.Q", Order::relaxed, chain()); }
TEST(Quiescence, V) { expect_needed("quiescence.V", Order::acq_rel, chain()); }

}  // namespace
}  // namespace nigh::model
