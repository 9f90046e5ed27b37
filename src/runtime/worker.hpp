// SPDX-License-Identifier: Apache-2.0
#pragma once
// One thread's own data, worker or guest. Only that thread writes here, except that others take
// from its ring and its task stack.

#include <cstdint>
#include <memory>
#include <nigh/detail/task_stack.hpp>
#include <nigh/runtime.hpp>

#include "policy/chunk_size.hpp"
#include "policy/steal_order.hpp"
#include "runtime/invitation.hpp"
#include "runtime/locality_queue.hpp"
#include "runtime/quiescence.hpp"
#include "trace/counters.hpp"
#include "trace/track.hpp"

namespace nigh::tasks {

// With less of its thread's stack left, a worker that waits in a join leaves all else to its
// stand-in: what it helps with is run on top of what it waits for.
inline constexpr std::size_t most_stack_to_help = 256 * 1024;

inline constexpr std::size_t ring_capacity = 2 * policy::largest_chunk;

// A seat is taken by
enum class Role : std::uint8_t {
  worker,    // a pinned thread, as long as the runtime lives
  stand_in,  // a thread beside worker w, at work while w is in a blocking_scope
  guest,     // a thread from outside, as long as it uses the runtime
};

struct alignas(64) Worker {
  Worker(detail::scheduler& host_, int seat_, Role role_, int cpu_, int domain_, int home_,
         std::size_t domains)
      : host(host_),
        seat(seat_),
        role(role_),
        cpu(cpu_),
        domain(domain_),
        home(home_),
        counters(domains) {
    stack.worker = this;
    // Spread over all bits: a small seed's first draws are small, and all thieves would begin with
    // their neighbours.
    random_bits = (static_cast<std::uint32_t>(seat_) + 1) * 0x9e3779b9u;
  }

  detail::task_stack stack;

  detail::scheduler& host;
  int const seat;
  Role const role;
  int cpu;     // of a guest: where it was when it came, or was followed to
  int domain;  //
  int home;    // whose queue it serves

  // Tasks taken from the domain's queue in one visit and not yet begun. Filled only when empty, so
  // a chunk always fits. Guests have none.
  std::unique_ptr<LocalityQueue<detail::task>> ring;
  TaskCount tasks;
  trace::WorkerCounters counters;
  trace::Track* track = nullptr;  // null: nobody records

  // Whom to steal from: `beside` first, the worker that a stand-in or guest sits next to; then as
  // the plan, a worker's own or that of `beside`, says.
  Worker* beside = nullptr;
  policy::VictimPlan const* plan = nullptr;  // the scheduler's
  sync::atomic<int> near_worker{0};          // itself, or `beside`: how far others take it to be
  std::uint32_t random_bits = 1;
  bool woken_in_vain = false;

  // Where counts or cutoffs are asked for, stack.limit is the stack's beginning, so that every push
  // comes by, and this is where it really ends.
  detail::task_slot* room_ends = nullptr;
  std::uint32_t frames = 0;  // stolen and queued tasks that the thread runs, one on top of another
  std::uint32_t depth = 0;   // of the running task in its tree; kept under depth_cutoff only

  // Of a stand-in: is it to work? Of a guest's seat: is it taken?
  enum Duty : std::uint32_t { off, on, ended };
  sync::atomic<std::uint32_t> duty{off};
  bool relieved = false;  // of a worker: its stand-in is at work

  // Of a worker: what it is invited to. Who sits in its place looks there, too.
  InvitationBox box;
  InvitationBox& box_here() noexcept { return beside != nullptr ? beside->box : box; }

  // Its cpu is not among those its program may use (arena.hpp). A worker, and its stand-in, begins
  // nothing more then: it finishes what it has on its stack, and rests.
  enum Leave : std::uint32_t { stay, leave };
  sync::atomic<std::uint32_t> asked_to{stay};
  bool is_to_leave() const noexcept { return asked_to.load(sync::relaxed) == leave; }

  // A thief's visit, as task_stack::take(); one in vain asks for more to be shared.
  template <class HowMany>
  bool is_robbed(std::uint32_t thief, detail::task_stack::loot& got,
                 HowMany const& how_many) noexcept {
    auto const what = stack.take(thief, got, how_many);
    if (what == detail::steal::empty) stack.ask();
    return what == detail::steal::taken;
  }
};

}  // namespace nigh::tasks
