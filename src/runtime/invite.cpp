// SPDX-License-Identifier: Apache-2.0
// Inviting certain workers to take part in something, and which of them make a team.

#include "runtime/frame.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::detail {
namespace {

constexpr std::size_t plans_kept = 64;

}  // namespace

bool scheduler::invite(int w, tasks::Invitation& to) noexcept {
  auto& guest = worker(w);
  if (guest.is_to_leave() || !guest.box.put(to)) return false;
  parking_->wake(guest.seat, guest.home);
  return true;
}

bool scheduler::disinvite(int w, tasks::Invitation& to) noexcept {
  return worker(w).box.take_back(to);
}

bool scheduler::find_invitation(Worker& me, Job& job) noexcept {
  job.invited = me.box_here().take();
  return job.invited != nullptr;
}

void scheduler::run_invited(tasks::Invitation& to) noexcept {
  Worker* const host = to.host;
  {
    Frame const frame;
    to.call(to);
  }
  if (to.finish()) host->host.wake(*host);
}

policy::TeamSeats const& scheduler::team_seats() {
  std::lock_guard const guard(teams_lock_);
  if (!team_seats_) team_seats_.emplace(machine_, cpus());
  return *team_seats_;
}

std::shared_ptr<policy::TeamPlan const> scheduler::teams(int spread, int active, bool smt) {
  policy::TeamChoice choice{
      std::min(spread, worker_count_), std::min(active, worker_count_), smt, {}};
  if (arena_ != nullptr)
    for (auto const& w : pinned_workers()) choice.present.push_back(!w->is_to_leave());
  auto const& seats = team_seats();
  std::lock_guard const guard(teams_lock_);
  for (auto const& [made_for, plan] : teams_)
    if (made_for == choice) return plan;
  auto plan = std::make_shared<policy::TeamPlan const>(seats, choice);
  if (teams_.size() == plans_kept) teams_.erase(teams_.begin());
  teams_.emplace_back(std::move(choice), plan);
  return plan;
}

}  // namespace nigh::detail
