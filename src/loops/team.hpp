// SPDX-License-Identifier: Apache-2.0
#pragma once
// A team at work: its master, and how its inner loops find their drones.
//
// A drone waits for nothing and belongs to nothing: it is a worker with nothing to do, that finds
// an invitation in its box (runtime/mailbox.hpp), one for each inner loop. So a team costs
// nothing while it has no loop, drones may do whatever comes up, and another team is made of the
// same workers by inviting others.

#include <nigh/team.hpp>

#include "loops/loop.hpp"
#include "policy/spread/team_plan.hpp"
#include "runtime/worker.hpp"

namespace nigh::loops {

class Team : public nigh::team {
 public:
  // Run by `master`, who is at that place, one of the team's. `to_lead`: what invited somebody to
  // be that, and may still lie in the boxes of others.
  Team(policy::TeamPlan const& plan, int index, int place, tasks::Worker* master,
       tasks::MailboxMessage& to_lead) noexcept
      : team(plan.end(index) - plan.begin(index), index, plan.teams()),
        plan_(plan),
        first_(plan.begin(index)),
        place_(place - first_),
        master_(master),
        to_lead_(to_lead) {}

  policy::Crew const& crew() const noexcept { return plan_.crew(index()); }
  // Not, if it is in a loop already.
  bool is_run_by(tasks::Worker const& me) const noexcept { return &me == master_ && !in_loop_; }
  // By its master: with all members that come, as many as are useful.
  void run(Loop& loop, int useful) const noexcept;

 private:
  bool send(int w, tasks::MailboxMessage& to) const noexcept;

  policy::TeamPlan const& plan_;
  int const first_;  // place
  int const place_;  // the master's, counted from the first
  tasks::Worker* const master_;
  tasks::MailboxMessage& to_lead_;
  mutable bool in_loop_ = false;  // the master's own
};

}  // namespace nigh::loops
