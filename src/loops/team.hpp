// SPDX-License-Identifier: Apache-2.0
#pragma once
// A team at work: its leader, and how its inner loops find their members.
//
// A member waits for nothing and belongs to nothing: it is a worker without work that finds a
// message in its mailbox (runtime/mailbox.hpp), one for each inner loop. So a team costs nothing
// while it has no loop, its members may do other work, and another team is made of the same workers
// by sending them messages.

#include <nigh/team.hpp>

#include "loops/loop.hpp"
#include "policy/spread/team_plan.hpp"
#include "runtime/worker.hpp"

namespace nigh::loops {

class Team : public nigh::team {
 public:
  // Run by `leader`, which is at that place, one of the team's. `to_lead`: the message that asked
  // somebody to lead, which may still lie in the mailboxes of others.
  Team(policy::TeamPlan const& plan, int index, int place, tasks::Worker* leader,
       tasks::MailboxMessage& to_lead) noexcept
      : team(plan.end(index) - plan.begin(index), index, plan.teams()),
        plan_(plan),
        first_(plan.begin(index)),
        place_(place - first_),
        leader_(leader),
        to_lead_(to_lead) {}

  policy::LoopWorkers const& loop_workers() const noexcept { return plan_.loop_workers(index()); }
  // False if it is in a loop already.
  bool is_run_by(tasks::Worker const& me) const noexcept { return &me == leader_ && !in_loop_; }
  // Called by its leader: with all members that come, as many as are useful.
  void run(Loop& loop, int useful) const noexcept;

 private:
  bool send(int w, tasks::MailboxMessage& to) const noexcept;

  policy::TeamPlan const& plan_;
  int const first_;  // place
  int const place_;  // the leader's, counted from the first
  tasks::Worker* const leader_;
  tasks::MailboxMessage& to_lead_;
  mutable bool in_loop_ = false;  // the leader's own
};

}  // namespace nigh::loops
