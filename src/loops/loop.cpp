// SPDX-License-Identifier: Apache-2.0
#include "loops/loop.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "loops/team.hpp"
#include "platform/pause.hpp"
#include "policy/loops/lone_start.hpp"
#include "runtime/pool.hpp"

namespace nigh {
namespace loops {

// Of a loop whose tickets have not been handed out, or were after it had begun.
struct LoneOwner {
  policy::LoneStart start;
  std::uint32_t others;
  std::int64_t began_ns;
  Tickets tickets;
};

}  // namespace loops

class detail::loop_part {
 public:
  loops::Loop& loop;
  tasks::Worker* const me;
  int const place;  // of a team; else the worker that it is, or sits beside
  policy::Hand hand;
  loops::LoneOwner* lone = nullptr;  // the others have not been called
};

namespace loops {

using detail::task_slot;
using detail::task_stack;

Loop::Rooms Loop::rooms_for(policy::LoopSchedule const& how) noexcept {
  return Rooms(needs_rooms(how) ? new (std::nothrow) Room[static_cast<std::size_t>(how.spans())] : nullptr);
}

Loop::Loop(policy::LoopSchedule const& how, Rooms rooms, std::size_t iterations, std::size_t grain,
           stop_token const& stop, detail::loop_work work, tasks::Worker const* owner,
           policy::LoopWorkers const* members)
    : work_(work),
      stop_(stop),
      iterations_(iterations),
      grain_(grain),
      steps_(policy::parts_of(iterations, grain)),
      how_(how),
      owner_(owner),
      members_(members),
      many_(std::move(rooms)) {
  int const spans = how.spans();
  NIGH_ASSERT(many_ != nullptr || spans <= usual_spans, "a loop of many workers has room for their spans");
  spans_ = many_ != nullptr ? reinterpret_cast<Span*>(many_.get()) : few_;
  for (int s = 0; s < spans; ++s) ::new (static_cast<void*>(spans_ + s)) Span(how.units_of(s));
}

void Loop::run(tasks::Worker* me, std::uint32_t others) noexcept {
  if (me == nullptr) return take_part(me, 0);
  if (others == 0 || !how_.splits() ||
      !policy::LoneStart::is_possible(how_.units(), how_.workers()) ||
      !me->pool.parking.would_wake())
    return enter(*me, others);
  LoneOwner lone{{how_.units(), how_.workers()}, others, base::now_ns(), {}};
  detail::loop_part part{*this, me, me->victims->self, {}, &lone};
  take_part(part);
  join(me->stack, lone.tickets);
}

void Loop::enter(tasks::Worker& me, std::uint32_t others) noexcept {
  auto const tickets = hand_out(me.stack, others);
  take_part(&me, me.victims->self);
  join(me.stack, tickets);
}

// The larger half first: the oldest task of a stack is the first to be stolen.
Tickets Loop::hand_out(task_stack& stack, std::uint32_t others) noexcept {
  detail::task_slot* const first = stack.top;
  while (others > 0) {
    auto const half = (others + 1) / 2;
    hand_out_one(stack, half - 1);
    others -= half;
  }
  return {first, stack.top};
}

// A ticket that nobody has taken is thrown away.
void Loop::join(task_stack& stack, Tickets tickets) noexcept {
  for (auto* slot = tickets.end; slot != tickets.first;)
    if (--slot; slot->object != this || !stack.pop(slot)) detail::join_slowly(stack, slot, this);
}

void Loop::hand_out_one(task_stack& stack, std::uint32_t others) noexcept {
  auto const push = [&](task_stack& to) {
    to.top->object = this;
    std::memcpy(to.top->closure, &others, sizeof others);
    to.push(&run_ticket);
  };
  if (stack.top < stack.limit) [[likely]]
    return push(stack);
  detail::slow_push const slow(detail::outsiders::stay);
  if (slow.room() != nullptr) push(*slow.room());
}

// A task_slot::entry.
void Loop::run_ticket(task_slot& slot, task_stack* popping) noexcept {
  auto& loop = *static_cast<Loop*>(slot.object);
  std::uint32_t others;
  std::memcpy(&others, slot.closure, sizeof others);
  if (popping != nullptr) popping->end_taking(&slot);
  auto* const me = detail::this_stack->worker;
  if (popping != nullptr)  // the loop is over, or this thread waits for something within it
    loop.take_part(me, me->victims->self);
  else
    loop.enter(*me, others);
}

void Loop::take_part(tasks::Worker* me, int place) noexcept {
  detail::loop_part part{*this, me, place, {}};
  take_part(part);
}

void Loop::take_part(detail::loop_part& part) noexcept {
  if (is_over()) return;
  try {
    work_.run(work_.self, part);
  } catch (...) {
    leave();
    if (!failed_.exchange(true, sync::relaxed)) exception_ = std::current_exception();
  }
}

void Loop::rethrow() {
  if (exception_) std::rethrow_exception(std::move(exception_));
}

// As long as it does not pay to wake somebody: from its own span, then from those of the others in
// turn.
bool Loop::refill_alone(detail::loop_part& part) noexcept {
  auto& lone = *part.lone;
  auto const now = base::now_ns();
  if (lone.start.wakes(now - lone.began_ns, part.me->lone_loops.spent_ns(lone.began_ns))) {
    part.lone = nullptr;
    lone.tickets = hand_out(part.me->stack, lone.others);
    return refill(part);
  }
  for (int n = 0; n < how_.spans(); ++n) {
    int const from = (part.place + n) % how_.spans();
    part.hand.origin = from;
    part.hand.units = spans_[from].take_front(
        [&](std::uint32_t left) { return std::min(left, lone.start.piece()); });
    lone.start.take(part.hand.units.count());
    if (!part.hand.units.empty()) return true;
  }
  part.me->lone_loops.add(lone.began_ns, now);
  return false;
}

bool Loop::refill(detail::loop_part& part) noexcept {
  if (part.lone != nullptr) return refill_alone(part);
  auto& hand = part.hand;
  auto* const me = part.me;
  int const place = part.place;
  bool const may_move = me != nullptr && members_ == nullptr && how_.spans() > 1;
  if (may_move) me->pool.threads.follow(*me);
  int const mine = how_.span_of(may_move ? me->victims->self : place);
  bool last = false;
  hand.origin = mine;
  hand.units = spans_[mine].take_front([&](std::uint32_t left) {
    auto const n = how_.owner_takes(left);
    last = n == left;
    return n;
  });
  // A worker that is asked to leave its cpu ends with its own span. The loop's owner stays for the
  // others.
  if (hand.units.empty()) {
    if (me == nullptr || (me != owner_ && me->is_to_leave())) return false;
    return members_ != nullptr ? visit_member(hand, place) : visit(hand, *me);
  }
  if (last && may_move && !me->victims->levels.empty())
    sync::prefetch(&spans_[me->victims->levels.front().victims.front()]);  // helped next
  return true;
}

// Of the nearest others that have something, the one with most. When a look at all of them finds
// nothing, there is nothing left, or it is in somebody's hand.
bool Loop::visit(policy::Hand& hand, tasks::Worker const& me) noexcept {
  if (how_.spans() == 1) return false;
  for (auto const& level : me.victims->levels) {
    for (;;) {
      int victim = -1;
      std::uint32_t most = 0;
      for (int const w : level.victims)
        if (auto const left = spans_[w].left(); !left.empty() && left.count() > most) {
          victim = w;
          most = left.count();
        }
      if (victim < 0) break;
      if (take_from(hand, victim, me.victims->self)) return true;
    }
  }
  return false;
}

// The same in a team: members of its own domain first.
bool Loop::visit_member(policy::Hand& hand, int place) noexcept {
  int const members = how_.spans();
  auto const home = [&](int p) { return members_->home_of[static_cast<std::size_t>(p)]; };
  for (bool const at_home : {true, false}) {
    for (;;) {
      int victim = -1;
      std::uint32_t most = 0;
      for (int p = 0; p < members; ++p)
        if (p != place && (home(p) == home(place)) == at_home)
          if (auto const left = spans_[p].left(); !left.empty() && left.count() > most) {
            victim = p;
            most = left.count();
          }
      if (victim < 0) break;
      if (take_from(hand, victim, place)) return true;
    }
    if (members_->homes() == 1) break;
  }
  return false;
}

// False: somebody was faster.
bool Loop::take_from(policy::Hand& hand, int victim, int place) noexcept {
  auto units = spans_[victim].take_back([&](std::uint32_t n) { return how_.helper_takes(n); });
  if (units.empty()) return false;
  hand.origin = victim;
  hand.units = units;
  if (how_.splits() && units.count() > 1) {
    auto const cut = units.begin + how_.owner_takes(units.count());
    if (spans_[place].put({cut, units.end})) hand.units.end = cut;
  }
  return true;
}

index_range Loop::next(policy::Hand& hand) noexcept {
  auto const steps = how_.take_steps(hand);
  return {steps.begin * grain_, steps.end >= steps_ ? iterations_ : steps.end * grain_};
}

// A thread that belongs to no runtime and finds no thread slot has a worker layout of its own.
policy::LoopWorkers const& nobody_else() {
  static auto const& loop_workers = *new policy::LoopWorkers{{0}, {0}, {1}, {0}};  // never destroyed
  return loop_workers;
}

namespace {

[[maybe_unused]] auto const& made_early = nobody_else();  // a loop without memory needs it

void run_here(detail::loop_range range, loop_options const& options, detail::loop_work work) {
  auto* const me = detail::this_stack->worker;
  auto const* const members =
      options.members != nullptr ? &static_cast<Team const&>(*options.members) : nullptr;
  bool alone = me == nullptr || (members != nullptr && !members->is_run_by(*me));
  auto const* loop_workers = alone                ? &nobody_else()
                             : members != nullptr ? &members->loop_workers()
                                                  : &me->pool.layout.loop_workers();
  static schedule const adaptive(schedule_kind::adaptive, 1);
  schedule const& how = options.how     ? *options.how
                        : me != nullptr ? me->pool.options.loops
                                        : adaptive;
  auto const grain = options.grain == 0 ? 1 : options.grain;
  policy::LocalMap const* map = how.map();
  std::optional<policy::LocalMap> scaled;
  auto const plan_for = [&] {
    return policy::LoopSchedule(how.kind(), policy::parts_of(how.chunk(), grain),
                                policy::parts_of(range.count, grain), *loop_workers, map,
                                scaled ? 0 : range.first);
  };
  auto const plan_near_data = [&] {
    try {
      if (map != nullptr && grain > 1 && loop_workers->homes() > 1)
        map = &scaled.emplace(map->in_steps(range.first, grain));
      return plan_for();
    } catch (std::bad_alloc const&) {
      map = nullptr;
      return plan_for();
    }
  };
  // A loop does without what it has no memory for: algorithms rely on their later loops to move
  // back what an earlier one has moved.
  auto plan = plan_near_data();
  auto rooms = Loop::rooms_for(plan);
  if (rooms == nullptr && Loop::needs_rooms(plan)) {  // this thread runs all of it
    alone = true;
    loop_workers = &nobody_else();
    plan = plan_for();
  }
  if (range.alike) plan.expect_alike();
  Loop loop(plan, std::move(rooms), range.count, grain, options.stop, work, me,
            alone || members != nullptr ? loop_workers : nullptr);
  if (alone)
    loop.take_part(me, 0);
  else if (members != nullptr)
    members->run(loop, plan.useful_workers());
  else
    loop.run(me, static_cast<std::uint32_t>(plan.useful_workers() - 1));
  loop.rethrow();
}

}  // namespace
}  // namespace loops

namespace detail {

bool next_piece(loop_part& part, index_range& piece) noexcept {
  if (part.loop.is_over()) return false;
  if (part.hand.units.empty() && !part.loop.refill(part)) return false;
  piece = part.loop.next(part.hand);
  return true;
}

std::size_t workers_for_loops(runtime* where) {
  if (where != nullptr) return static_cast<std::size_t>(where->workers());
  auto* const me = this_stack->worker;
  return static_cast<std::size_t>(me != nullptr ? me->pool.layout.workers()
                                                : default_runtime().workers());
}

void leave_loop(loop_part& part) noexcept { part.loop.leave(); }

void run_loop(loop_range range, loop_options const& options, loop_work work) {
  if (range.count == 0) return;
  auto const run = [&] { loops::run_here(range, options, work); };
  if (options.members != nullptr) return run();
  if (options.where != nullptr) return options.where->invoke(run);
  if (this_stack == &no_stack) return default_runtime().invoke(run);
  run();
}

}  // namespace detail
}  // namespace nigh
