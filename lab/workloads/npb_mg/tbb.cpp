// SPDX-License-Identifier: Apache-2.0
// oneTBB: parallel_for over ranges of planes.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "npb_mg/plain_cycle.hpp"

namespace npb_mg {

namespace {

namespace tbb = oneapi::tbb;

// Pins whoever enters the arena to the cpu of the slot it takes there.
class PinSlots : public tbb::task_scheduler_observer {
 public:
  PinSlots(tbb::task_arena& arena, Team const& team) : task_scheduler_observer(arena), team_(team) {
    if (team_.pin != nullptr) observe(true);
  }
  ~PinSlots() override { observe(false); }

  void on_scheduler_entry(bool) override {
    int const slot = tbb::this_task_arena::current_thread_index();
    if (slot < team_.threads()) team_.pin_thread(slot);
  }

 private:
  Team team_;
};

// Each arena has its own number of threads. The limit for all of them together would otherwise be
// counted from the cpus of the thread that uses oneTBB first, and that one may be pinned.
constexpr std::size_t no_limit = 1024;

template <class Partitioner>
class Arena {
 public:
  explicit Arena(Team const& team)
      : limit_(tbb::global_control::max_allowed_parallelism, no_limit),
        arena_(team.threads()),
        pins_(arena_, team) {}

  template <class Body>
  void run(Body const& body) {
    arena_.execute(body);
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    tbb::parallel_for(
        tbb::blocked_range<std::ptrdiff_t>(first, last),
        [&](tbb::blocked_range<std::ptrdiff_t> const& part) {
          for (auto k = part.begin(); k != part.end(); ++k) body(k);
        },
        Partitioner());
  }

 private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
  PinSlots pins_;
};

}  // namespace

void add_tbb(std::vector<VariantInfo>& list) {
  list.push_back({"tbb/static", make_one_caller<Arena<tbb::static_partitioner>>, {}});
  list.push_back({"tbb/auto", make_one_caller<Arena<tbb::auto_partitioner>>, {}});
}

}  // namespace npb_mg
