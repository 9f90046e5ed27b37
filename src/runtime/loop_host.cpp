// SPDX-License-Identifier: Apache-2.0
#include "runtime/loop_host.hpp"

#include <algorithm>

#include "runtime/pool.hpp"

namespace nigh::tasks {
namespace {

constexpr std::size_t plans_kept = 64;

}  // namespace

bool LoopHost::send(int worker, MailboxMessage& message) noexcept {
  auto& receiver = pool_.threads.at_slot(worker);
  if (receiver.is_to_leave() || !receiver.mailbox.put(message)) return false;
  receiver.wake();
  return true;
}

bool LoopHost::take_back(int worker, MailboxMessage& message) noexcept {
  return pool_.threads.at_slot(worker).mailbox.take_back(message);
}

policy::OrderedWorkers const& LoopHost::ordered_workers() {
  std::lock_guard const guard(lock_);
  if (!ordered_workers_) ordered_workers_.emplace(pool_.machine, pool_.layout.cpus());
  return *ordered_workers_;
}

std::shared_ptr<policy::TeamPlan const> LoopHost::teams(int spread, int active, bool smt) {
  int const workers = pool_.layout.workers();
  policy::TeamChoice choice{std::min(spread, workers), std::min(active, workers), smt, {}};
  auto const all = pool_.threads.workers();
  if (std::any_of(all.begin(), all.end(), [](auto& w) { return w->is_to_leave(); }))
    for (auto const& w : all) choice.present.push_back(!w->is_to_leave());
  auto const& ordered = ordered_workers();
  std::lock_guard const guard(lock_);
  for (auto const& [made_for, plan] : plans_)
    if (made_for == choice) return plan;
  auto plan = std::make_shared<policy::TeamPlan const>(ordered, choice);
  if (plans_.size() == plans_kept) plans_.erase(plans_.begin());
  plans_.emplace_back(std::move(choice), plan);
  return plan;
}

}  // namespace nigh::tasks
