// SPDX-License-Identifier: Apache-2.0
// Task loops: blocks to teams.

#include <algorithm>
#include <climits>
#include <chrono>
#include <exception>
#include <memory>
#include <nigh/task_loop.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "loops/spread_site.hpp"
#include "loops/team.hpp"
#include "runtime/pool.hpp"

namespace nigh::loops {
namespace {

using detail::team_work;
using policy::Hand;
using policy::LoopSchedule;
using policy::TeamPlan;

// One running task loop. Its frame is the caller's, who returns when no receiver of its messages is
// out any more.
class TaskLoop : tasks::MailboxMessage {
 public:
  TaskLoop(TeamPlan const& plan, LoopSchedule const& how, std::size_t blocks, std::size_t grain,
           stop_token const& stop, team_work work, tasks::Worker* owner)
      : MailboxMessage(&come, owner, owner != nullptr ? owner->marks() : 0),
        plan_(plan),
        how_(how),
        blocks_(blocks),
        grain_(grain),
        stop_(stop),
        work_(work),
        teams_(std::make_unique<AtWork[]>(static_cast<std::size_t>(plan.teams()))) {
    for (int t = 0; t < plan.teams(); ++t) ::new (&at(t).left) Span(units_of(t));
  }

  void run() {
    int const place = owners_place();
    int const mine = plan_.team_of(place);
    at(mine).has_leader.store(true, sync::relaxed);
    std::uint32_t missed = 0;
    auto const for_others = [&](auto what) {
      for (int p = 0; p < plan_.places(); ++p) {
        int const t = plan_.team_of(p);
        if (t != mine && at(t).takes_part && what(plan_.worker_at(p))) ++missed;
      }
    };
    std::uint32_t receivers = 0;
    for (int t = 0; t < plan_.teams(); ++t) {
      at(t).takes_part = !at(t).left.left().empty();
      if (t != mine && at(t).takes_part)
        receivers += static_cast<std::uint32_t>(plan_.end(t) - plan_.begin(t));
    }
    if (receivers > 0) {
      expect(receivers);
      for_others([&](int w) { return !sender->pool.loop_host.send(w, *this); });
    }
    lead(mine, place, sender);
    if (receivers > 0) {
      for_others([&](int w) { return sender->pool.loop_host.take_back(w, *this); });
      if (!this->missed(missed)) sender->await_receivers(out);
    }
    if (exception_) std::rethrow_exception(std::move(exception_));
  }

  // All blocks have been run.
  bool is_complete() const noexcept { return !is_over(); }

 private:
  struct alignas(64) AtWork {
    AtWork() noexcept : left({}) {}
    Span left;
    sync::atomic<bool> has_leader{false};
    bool takes_part = false;  // the caller's own
  };

  AtWork& at(int team) noexcept { return teams_[static_cast<std::size_t>(team)]; }
  bool is_over() const noexcept { return over_.load(sync::relaxed) || stop_.stop_requested(); }

  // Its places' shares follow each other.
  policy::Units units_of(int team) const noexcept {
    policy::Units all;
    for (int p = plan_.begin(team); p < plan_.end(team); ++p) {
      auto const part = how_.units_of(p);
      if (!part.empty()) all = {all.empty() ? part.begin : all.begin, part.end};
    }
    return all;
  }

  // A worker in no team, because fewer are to be at work or its cpu is wanted back, takes the place
  // of the nearest that is in one.
  int owners_place() const noexcept {
    if (sender == nullptr) return 0;
    auto const& from = *sender->victims;
    if (int const own = plan_.place_of(from.self); own >= 0) return own;
    for (auto const& level : from.levels)
      for (int const w : level.victims)
        if (int const p = plan_.place_of(w); p >= 0) return p;
    return 0;
  }

  // The first member of a team to come is its leader. The others are free for its inner loops.
  static void come(MailboxMessage& self) noexcept {
    auto& loop = static_cast<TaskLoop&>(self);
    auto* const me = detail::this_stack->worker;
    int const place = loop.plan_.place_of(me->victims->self);
    int const team = loop.plan_.team_of(place);
    if (loop.at(team).has_leader.exchange(true, sync::relaxed)) return;
    std::uint32_t free = 0;
    for (int p = loop.plan_.begin(team); p < loop.plan_.end(team); ++p)
      if (p != place && me->pool.loop_host.take_back(loop.plan_.worker_at(p), loop)) ++free;
    loop.missed(free);
    loop.lead(team, place, me);
  }

  void lead(int team, int place, tasks::Worker* me) noexcept {
    Team const members(plan_, team, place, me, *this);
    Hand hand;
    try {
      while (!is_over() && refill(hand, team, me)) {
        auto const steps = how_.take_steps(hand);
        auto const end = std::min(steps.end * grain_, blocks_);
        if (!work_.run(work_.self, {steps.begin * grain_, end}, members))
          over_.store(true, sync::relaxed);
      }
    } catch (...) {
      over_.store(true, sync::relaxed);
      if (!failed_.exchange(true, sync::relaxed)) exception_ = std::current_exception();
    }
  }

  // A block at a time. A worker that is asked to leave its cpu does so; the caller stays for what
  // is left.
  bool refill(Hand& hand, int team, tasks::Worker* me) noexcept {
    if (!hand.units.empty()) return true;
    if (me != nullptr && me != sender && me->is_to_leave()) return false;
    auto const one = [](std::uint32_t) { return 1u; };
    hand.origin = team;
    hand.units = at(team).left.take_front(one);
    if (!hand.units.empty()) return true;
    for (int victim; (victim = behind(team)) >= 0;) {
      hand.origin = victim;
      hand.units = at(victim).left.take_back(one);
      if (!hand.units.empty()) return true;
    }
    return false;
  }

  // Of the nearest teams that have blocks left, the one with most; -1: none has.
  int behind(int team) noexcept {
    int best = -1;
    double best_far = 0;
    std::uint32_t most = 0;
    for (int t = 0; t < plan_.teams(); ++t) {
      auto const left = at(t).left.left();
      if (t == team || left.empty()) continue;
      double const far = plan_.distance(team, t);
      if (best >= 0 && (far > best_far || (far == best_far && left.count() <= most))) continue;
      best = t;
      best_far = far;
      most = left.count();
    }
    return best;
  }

  TeamPlan const& plan_;
  LoopSchedule const& how_;
  std::size_t const blocks_;
  std::size_t const grain_;
  stop_token const stop_;
  team_work const work_;
  std::unique_ptr<AtWork[]> teams_;
  sync::atomic<bool> over_{false};
  sync::atomic<bool> failed_{false};  // exception_ is taken
  std::exception_ptr exception_;
};

// For a thread without a thread slot.
TeamPlan const& plan_for_nobody() {
  // Never destroyed: destructors of static objects may run loops.
  static auto const& plan =
      *new TeamPlan(policy::OrderedWorkers(this_host(), {this_host().cpus().front()}), {});
  return plan;
}

// False: not all blocks have been run.
bool run_once(std::size_t blocks, task_loop_options const& options, spread_choice const& choice,
              team_work work) {
  auto* const me = detail::this_stack->worker;
  auto const made =
      me != nullptr ? me->pool.loop_host.teams(choice.spread, choice.active, options.smt) : nullptr;
  auto const& plan = made != nullptr ? *made : plan_for_nobody();
  auto const grain = static_cast<std::size_t>(choice.grain);
  policy::LocalMap const* map = options.how ? options.how->map() : nullptr;
  std::optional<policy::LocalMap> scaled;
  if (map != nullptr && grain > 1 && plan.loop_workers().homes() > 1)
    map = &scaled.emplace(map->in_steps(0, grain));
  LoopSchedule const how(map != nullptr ? schedule_kind::local : schedule_kind::static_blocks, 1,
                         policy::parts_of(blocks, grain), plan.loop_workers(), map, 0);
  TaskLoop loop(plan, how, blocks, grain, options.stop, work, me);
  loop.run();
  return loop.is_complete();
}

[[noreturn]] void refuse(std::string const& option, std::string const& why) {
  throw std::invalid_argument("task_loop_options::" + option + ": " + why);
}

// A loop that ended early says nothing about its length.
void run_measured(std::size_t blocks, task_loop_options const& options, int grain, team_work work) {
  auto* const me = detail::this_stack->worker;
  auto& site = spread_access::of(*options.site);
  if (me == nullptr) {
    run_once(blocks, options, {1, 1, grain}, work);
    return;
  }
  auto const how = site.begin(me->pool.machine, me->pool.loop_host.ordered_workers(),
                              options.active, options.smt, grain);
  if (!how.counts) {
    run_once(blocks, options, how.choice, work);
    return;
  }
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  bool complete = false;
  try {
    complete = run_once(blocks, options, how.choice, work);
  } catch (...) {
    site.dropped();
    throw;
  }
  if (complete)
    site.took(std::chrono::duration<double>(clock::now() - begin).count());
  else
    site.dropped();
}

void run_here(std::size_t blocks, task_loop_options const& options, team_work work) {
  auto const spread = options.spread ? *options.spread
                      : options.site ? nigh::spread::automatic
                                     : nigh::spread(1);
  if (spread.workers() < 0) refuse("spread", std::to_string(spread.workers()) + " is negative");
  if (options.active < 0) refuse("active", std::to_string(options.active) + " is negative");
  if (options.how && options.how->kind() != schedule_kind::local)
    refuse("how",
           "blocks are shared out by local_schedule(array), not by " + to_string(*options.how));
  if (spread.is_automatic() && options.site == nullptr)
    refuse("spread", "automatic needs a site, which keeps what is learnt");
  auto const grain = static_cast<int>(std::clamp<std::size_t>(options.grain, 1, INT_MAX));
  if (spread.is_automatic())
    run_measured(blocks, options, grain, work);
  else
    run_once(blocks, options, {spread.workers(), options.active, grain}, work);
}

}  // namespace
}  // namespace nigh::loops

namespace nigh::detail {

void run_task_loop(std::size_t blocks, task_loop_options const& options, team_work work) {
  if (blocks == 0) return;
  auto const run = [&] { loops::run_here(blocks, options, work); };
  if (options.where != nullptr) return options.where->invoke(run);
  if (this_stack == &no_stack) return default_runtime().invoke(run);
  run();
}

}  // namespace nigh::detail
