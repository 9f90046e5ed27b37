// SPDX-License-Identifier: Apache-2.0
#pragma once
// One loop that is being run: what is left of it, and the tickets to take part in it.
//
// A ticket is a forked task, "enter this loop, and bring so many others". It is split in halves as
// it goes round, so that w workers are there after log w steals. A worker that takes one enters as
// itself: its own span is its own, no matter whom it stole the ticket from. So the same iterations
// go to the same worker from loop to loop. A worker that comes when all is done finds nothing and
// goes.
//
// All of it lives in the frame of run_loop(), which returns when all tickets have been joined.

#include <exception>
#include <memory>
#include <nigh/detail/loop.hpp>
#include <nigh/detail/task_stack.hpp>

#include "base/atomic.hpp"
#include "loops/span.hpp"
#include "policy/loops/loop_schedule.hpp"
#include "runtime/worker.hpp"

namespace nigh::loops {

struct Tickets {  // in the owner's stack, among what its iterations left there
  detail::task_slot* first = nullptr;
  detail::task_slot* end = nullptr;
};

class Loop {
  struct alignas(Span) Room {
    std::byte bytes[sizeof(Span)];
  };

 public:
  // For the spans of many workers. Null: a loop has room enough itself, or there is no memory.
  using Rooms = std::unique_ptr<Room[]>;
  static bool needs_rooms(policy::LoopSchedule const& how) noexcept { return how.spans() > usual_spans; }
  static Rooms rooms_for(policy::LoopSchedule const& how) noexcept;

  // The steps of `how` are `grain` iterations each. For a team's loop, `members` are the places of
  // `how`; null: all workers are.
  Loop(policy::LoopSchedule const& how, Rooms rooms, std::size_t iterations, std::size_t grain,
       stop_token const& stop, detail::loop_work work, tasks::Worker const* owner,
       policy::LoopWorkers const* members = nullptr);
  ~Loop() {}
  Loop(Loop&&) = delete;
  Loop& operator=(Loop&&) = delete;

  // Takes part, and has that many others do so, unless the loop is over before they would be awake;
  // returns when they have. In the thread of `me`; null: a thread without a thread slot, which is
  // alone.
  void run(tasks::Worker* me, std::uint32_t others) noexcept;
  void rethrow();

  // The same for each thread that comes at a place of the team.
  void take_part(tasks::Worker* me, int place) noexcept;

  // For one thread's part.
  bool is_over() const noexcept { return over_.load(sync::relaxed) || stop_.stop_requested(); }
  void leave() noexcept { over_.store(true, sync::relaxed); }
  bool refill(detail::loop_part& part) noexcept;
  index_range next(policy::Hand& hand) noexcept;

 private:
  static constexpr int usual_spans = 32;

  static void run_ticket(detail::task_slot& slot, detail::task_stack* popping) noexcept;
  void enter(tasks::Worker& me, std::uint32_t others) noexcept;
  Tickets hand_out(detail::task_stack& stack, std::uint32_t others) noexcept;
  void hand_out_one(detail::task_stack& stack, std::uint32_t others) noexcept;
  void join(detail::task_stack& stack, Tickets tickets) noexcept;
  void take_part(detail::loop_part& part) noexcept;
  bool refill_alone(detail::loop_part& part) noexcept;
  bool visit(policy::Hand& hand, tasks::Worker const& me) noexcept;
  bool visit_member(policy::Hand& hand, int place) noexcept;
  bool take_from(policy::Hand& hand, int victim, int place) noexcept;

  // Read by all, written by few: a cache line, and the schedule's first one.
  alignas(64) detail::loop_work work_;
  Span* spans_;
  stop_token stop_;
  std::size_t iterations_;
  std::size_t grain_;
  std::size_t steps_;
  sync::atomic<bool> over_{false};
  sync::atomic<bool> failed_{false};  // exception_ is taken
  policy::LoopSchedule const& how_;
  tasks::Worker const* owner_;  // in whose frame it is; null: a thread without a thread slot
  policy::LoopWorkers const* members_;

  std::exception_ptr exception_;
  union {
    Span few_[usual_spans];
  };
  Rooms many_;
};

policy::LoopWorkers const& nobody_else();

}  // namespace nigh::loops
