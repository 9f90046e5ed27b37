// SPDX-License-Identifier: Apache-2.0
#include "loops/team.hpp"

#include <utility>

#include "runtime/pool.hpp"

namespace nigh::loops {
namespace {

struct LoopMessage : tasks::MailboxMessage {
  LoopMessage(Loop& loop_, policy::TeamPlan const& plan_, int first_, tasks::Worker* sender_)
      : MailboxMessage(&come, sender_, sender_ != nullptr ? sender_->marks() : 0),
        loop(loop_),
        plan(plan_),
        first(first_) {}

  static void come(MailboxMessage& self) noexcept {
    auto& to = static_cast<LoopMessage&>(self);
    auto* const me = detail::this_stack->worker;
    to.loop.take_part(me, to.plan.place_of(me->victims->self) - to.first);
  }

  Loop& loop;
  policy::TeamPlan const& plan;
  int const first;
};

}  // namespace

// The owner of the blocks sends messages to all while the first of them are at work. A worker that
// it asks to lead a team that has its leader by now would not come to that team's loop.
bool Team::send(int w, tasks::MailboxMessage& to) const noexcept {
  auto& host = leader_->pool.loop_host;
  if (host.send(w, to)) return true;
  if (host.take_back(w, to_lead_)) to_lead_.missed(1);
  return host.send(w, to);
}

// A member that has not come when the leader finds nothing left is not waited for.
void Team::run(Loop& loop, int useful) const noexcept {
  if (useful <= 1) return loop.take_part(leader_, place_);
  in_loop_ = true;
  auto& host = leader_->pool.loop_host;
  auto const receivers = static_cast<std::uint32_t>(size()) - 1;
  LoopMessage to(loop, plan_, first_, leader_);
  to.expect(receivers);
  std::uint32_t missed = 0;
  auto const for_members = [&](auto what) {
    for (int p = 0; p < size(); ++p)
      if (p != place_ && what(plan_.worker_at(first_ + p))) ++missed;
  };
  for_members([&](int w) { return !send(w, to); });
  loop.take_part(leader_, place_);
  for_members([&](int w) { return host.take_back(w, to); });
  if (!to.missed(missed)) leader_->await_receivers(to.out);
  in_loop_ = false;
}

}  // namespace nigh::loops
