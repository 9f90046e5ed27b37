// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "workloads/team.hpp"

namespace workloads {

namespace {

namespace tbb = oneapi::tbb;

// Pins whoever enters the arena to the cpu of the slot it takes there.
class PinSlots : public tbb::task_scheduler_observer {
 public:
  PinSlots(tbb::task_arena& arena, TeamOptions options)
      : task_scheduler_observer(arena), options_(std::move(options)) {
    if (options_.pin) observe(true);
  }
  ~PinSlots() override { observe(false); }

  void on_scheduler_entry(bool) override {
    int const slot = tbb::this_task_arena::current_thread_index();
    if (slot < options_.threads()) options_.pin_thread(slot);
  }

 private:
  TeamOptions options_;
};

// A thread that waits takes up whatever task it finds, on top of its own stack: UTS needs depth.
constexpr std::size_t stack_bytes = std::size_t{1} << 30;

// Each arena has its own number of threads. The limit for all of them together would otherwise be
// counted from the cpus of the thread that uses oneTBB first, and that one may be pinned.
constexpr std::size_t no_limit = 1024;

class Arena : public Team {
 public:
  explicit Arena(TeamOptions const& options)
      : stack_(tbb::global_control::thread_stack_size, stack_bytes),
        limit_(tbb::global_control::max_allowed_parallelism, no_limit),
        arena_(options.threads()),
        pins_(arena_, options) {}

  void run(std::function<void()> const& body) override { arena_.execute(body); }

 private:
  tbb::global_control stack_, limit_;
  tbb::task_arena arena_;
  PinSlots pins_;
};

}  // namespace

std::unique_ptr<Team> make_tbb_team(TeamOptions const& options) {
  return std::make_unique<Arena>(options);
}

}  // namespace workloads
