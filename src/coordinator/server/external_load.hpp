// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cpus that programs use that know no coordinator.
//
// Of a cpu that nobody has a lease for, the system tells: it has been busy for more than half of
// the time since the last look. A leased cpu is busy anyway, and nobody tells with what. But what
// all cpus together have worked, and our programs have not, somebody else has: if that is more than
// half a cpu, beside the busy ones that are seen, there are strangers on leased cpus, too. A time
// that is known of some programs only, or of others than at the last look, tells nothing; and of
// two looks that disagree, the earlier one is believed, for such sums are rough.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/protocol/cpus.hpp"
#include "platform/cpu_times.hpp"
#include "policy/core_map.hpp"

namespace nigh::coordinator {

class ExternalLoad {
 public:
  static constexpr std::int64_t unknown = -1;
  using Members = std::map<int, std::int64_t>;  // what each process of ours has worked

  void look(policy::CoreMap const& machine, policy::PositionSet const& free, Members members) {
    compare(machine, free, platform::cpu_times(), std::move(members));
  }

  // The same with times that somebody else has read.
  void compare(policy::CoreMap const& machine, policy::PositionSet const& free,
               std::vector<platform::CpuTimes> now, Members members) {
    CpuSet busy;
    std::int64_t worked = 0, seen = 0, all = 0;
    int cpus = 0;
    for (int p = 0; p < machine.size(); ++p) {
      auto const cpu = static_cast<std::size_t>(machine.cpu(p));
      if (cpu >= now.size() || cpu >= before_.size()) continue;
      auto const working = now[cpu].busy - before_[cpu].busy;
      auto const resting = now[cpu].idle - before_[cpu].idle;
      worked += working;
      all += working + resting;
      ++cpus;
      if (!free.has(p) || free_before_.size() != machine.size() || !free_before_.has(p)) continue;
      if (working <= resting) continue;
      busy.add(machine.cpu(p));
      seen += working;
    }
    auto const half_a_cpu = cpus > 0 ? all / cpus / 2 : 0;
    auto const ours = worked_since(members);
    bool const is_known = ours.has_value() && half_a_cpu > 0;
    if (is_known && worked - *ours <= half_a_cpu) busy = {};  // those were ours, between regions
    note(busy, is_known ? std::optional(worked - *ours - seen > half_a_cpu) : std::nullopt);
    before_ = std::move(now);
    free_before_ = free;
    members_ = std::move(members);
  }

  CpuSet const& busy() const noexcept { return busy_; }
  bool is_unseen_elsewhere() const noexcept { return is_unseen_elsewhere_; }
  bool has_changed() const noexcept { return has_changed_; }

 private:
  std::optional<std::int64_t> worked_since(Members const& now) const {
    std::int64_t sum = 0;
    if (now.size() != members_.size()) return std::nullopt;
    for (auto const& [process, time] : now) {
      auto const before = members_.find(process);
      if (before == members_.end() || time == unknown || before->second == unknown)
        return std::nullopt;
      sum += std::max<std::int64_t>(0, time - before->second);
    }
    return sum;
  }
  // ExternalLoad who were seen, and are not any more because their cpus are leased now, need not be
  // looked at twice.
  void note(CpuSet const& busy, std::optional<bool> unseen) {
    bool now = is_unseen_elsewhere_;
    if (unseen && (*unseen == last_unseen_ || (*unseen && !busy_.empty()))) now = *unseen;
    last_unseen_ = unseen.value_or(last_unseen_);
    has_changed_ = busy != busy_ || now != is_unseen_elsewhere_;
    busy_ = busy;
    is_unseen_elsewhere_ = now;
  }

  std::vector<platform::CpuTimes> before_;
  policy::PositionSet free_before_{0};
  Members members_;
  CpuSet busy_;
  bool is_unseen_elsewhere_ = false;
  bool last_unseen_ = false;
  bool has_changed_ = false;
};

}  // namespace nigh::coordinator
