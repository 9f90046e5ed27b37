// SPDX-License-Identifier: Apache-2.0
#pragma once
// Time, tasks and chance of the simulated host. Each step runs one task until it waits; the next
// step is that of the task that is due first. A seed determines everything.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "simulation/fiber.hpp"
#include "simulation/random.hpp"
#include "simulation/seen.hpp"

namespace simulation {

using Time = std::int64_t;  // microseconds
inline constexpr Time never = INT64_MAX;

struct Process;

// The promises to a thread of a well-behaved program about its present call.
struct Promise {
  Time began = 0;
  Time within = never;        // without what the host has held its process up for
  std::int64_t lag_then = 0;  // of its process
  bool waits_for_ever = false;
};

struct Task {
  int number = 0;
  Process* process = nullptr;
  char const* role = "";
  std::unique_ptr<Fiber> fiber;
  std::uint64_t turn = 0;  // which of its entries in the calendar counts
  bool is_parked = false;  // and may be woken
  bool was_woken = false;
  bool is_due = false;  // while its process is stopped
  bool is_over = false;
  Promise promise{};
};

class World {
 public:
  World(std::uint64_t seed, bool tells);
  ~World();
  World(World&&) = delete;

  Random& random() noexcept { return random_; }
  Time now() const noexcept { return now_; }
  std::uint64_t steps() const noexcept { return steps_; }
  Task* current() const noexcept { return current_; }
  std::vector<std::unique_ptr<Task>> const& tasks() const noexcept { return tasks_; }

  Task* spawn(Process* process, char const* role, std::function<void()> body, Time after = 0);
  // One step. False: nothing will ever happen any more.
  bool step();

  // ---- by the task that runs

  // Until woken, true, or until then, false; in both cases a little late.
  bool park(Time until);
  void sleep(Time us);
  // Others may run before it goes on, as they may at any system call.
  void maybe_preempted();
  void spin();

  void wake(Task& task);
  void forget(Process& process);  // its tasks
  void resume(Process& process);
  // Does something as if that process did it. Must not wait.
  void as(Process& process, std::function<void()> const& what);

  void saw(Seen what) noexcept { ++seen_[static_cast<std::size_t>(what)]; }
  Counts const& seen() const noexcept { return seen_; }

  // `what` stays; %1 to %3 in it are the numbers.
  void log(char const* what, std::int64_t a = 0, std::int64_t b = 0, std::int64_t c = 0);
  // The last events, and how to see them again.
  void print_log() const;
  [[noreturn]] void fail(std::string const& what) const;

 private:
  struct Entry {
    Time at;
    std::uint64_t order;
    Task* task;
    std::uint64_t turn;
    bool operator>(Entry const& o) const noexcept {
      return at != o.at ? at > o.at : order > o.order;
    }
  };
  struct Line {
    Time at = 0;
    std::uint64_t step = 0;
    int process = 0;
    char const* role = "";
    char const* what = "";
    std::int64_t a = 0, b = 0, c = 0;
  };
  static constexpr std::size_t lines_kept = 256;

  void print(Line const& line) const;
  void enter_calendar(Task& task, Time at);
  Time lateness(Time from);  // of the present task, which is to go on then
  void reap();

  std::uint64_t seed_;
  Random random_;
  bool tells_;
  Time now_ = 1'000'000;
  std::uint64_t steps_ = 0;
  std::uint64_t order_ = 0;
  int last_task_ = 0;
  Task* current_ = nullptr;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> calendar_;
  bool is_to_reap_ = false;
  Counts seen_{};
  std::array<Line, lines_kept> lines_{};
  std::uint64_t lines_written_ = 0;
  std::uint32_t load_;  // how seldom tasks are late
};

// The one that runs; system calls of the simulated host find it here.
extern World* world;

}  // namespace simulation
