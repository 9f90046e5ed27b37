// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cpus are busy with programs that know no coordinator: those that nobody has a lease for,
// and that have been busy all the same for more than half of the time since the last look.

#include <optional>

#include "coordinator/protocol/cpus.hpp"
#include "platform/cpu_times.hpp"
#include "policy/core_map.hpp"

namespace nigh::coordinator {

class Strangers {
 public:
  // Those cpus, if they are others than at the last look.
  std::optional<CpuSet> look(policy::CoreMap const& machine, policy::PositionSet const& free) {
    return compare(machine, free, platform::cpu_times());
  }

  // The same with times that somebody else has read.
  std::optional<CpuSet> compare(policy::CoreMap const& machine, policy::PositionSet const& free,
                                std::vector<platform::CpuTimes> now) {
    CpuSet busy;
    for (int p = 0; p < machine.size(); ++p) {
      auto const cpu = static_cast<std::size_t>(machine.cpu(p));
      if (!free.has(p) || free_before_.size() != machine.size() || !free_before_.has(p)) continue;
      if (cpu >= now.size() || cpu >= before_.size()) continue;
      auto const working = now[cpu].busy - before_[cpu].busy;
      auto const resting = now[cpu].idle - before_[cpu].idle;
      if (working > resting) busy.add(machine.cpu(p));
    }
    before_ = std::move(now);
    free_before_ = free;
    if (busy == busy_) return std::nullopt;
    return busy_ = busy;
  }

 private:
  std::vector<platform::CpuTimes> before_;
  policy::PositionSet free_before_{0};
  CpuSet busy_;
};

}  // namespace nigh::coordinator
