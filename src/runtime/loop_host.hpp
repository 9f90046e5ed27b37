// SPDX-License-Identifier: Apache-2.0
#pragma once
// LoopHost: what loops on teams (src/loops) ask of a runtime: which workers make which team, and
// messages to these workers.

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "policy/spread/team_plan.hpp"
#include "runtime/mailbox.hpp"

namespace nigh::tasks {

struct Pool;

class LoopHost {
 public:
  explicit LoopHost(Pool& pool) noexcept : pool_(pool) {}

  // Not for the worker in whose place the sender sits. False: the mailbox is full, or the worker is
  // asked to leave its cpu.
  bool send(int worker, MailboxMessage& message) noexcept;
  bool take_back(int worker, MailboxMessage& message) noexcept;  // false: it has been taken

  // The plan of the teams, of the workers that may run now. Plans are kept: a loop mostly gets one
  // that was made before.
  std::shared_ptr<policy::TeamPlan const> teams(int spread, int active, bool smt);
  policy::OrderedWorkers const& ordered_workers();

 private:
  Pool& pool_;
  std::mutex lock_;
  std::optional<policy::OrderedWorkers> ordered_workers_;
  std::vector<std::pair<policy::TeamChoice, std::shared_ptr<policy::TeamPlan const>>> plans_;
};

}  // namespace nigh::tasks
