// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds external load: the cpus used by programs that know no coordinator.
//
// The system tells how long each cpu was busy. A cpu without a lease has external load if it was
// busy for more than half of the time since the last look. A leased cpu is busy anyway, and the
// system does not tell with what. But all cpus' work minus our programs' work is external: if that
// is more than half a cpu beyond the busy cpus seen above, there is external load on leased cpus,
// too. This says nothing when the times of some of our programs are unknown. Of two looks that
// disagree, the earlier one counts, for such sums are rough.
//
// Programs come and go between two looks. The work of a program before it came is its own, and a
// program that goes says how much it has worked; where it cannot, that look says nothing.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/protocol/cpus.hpp"
#include "platform/cpu_times.hpp"
#include "policy/cpus/core_map.hpp"

namespace nigh::coordinator {

class ExternalLoad {
 public:
  static constexpr std::int64_t unknown = -1;
  using Members = std::map<int, std::int64_t>;  // the total work of each process of ours

  void look(policy::CoreMap const& machine, policy::PositionSet const& free, Members members) {
    compare(machine, free, platform::cpu_times(), std::move(members));
  }

  // The last look was long ago: the next one is compared with this one.
  void start_over(policy::PositionSet const& free, Members members) {
    start_over(free, std::move(members), platform::cpu_times());
  }
  void start_over(policy::PositionSet const& free, Members members,
                  std::vector<platform::CpuTimes> now) {
    has_changed_ = !busy_.empty() || is_unseen_elsewhere_;
    busy_ = {};
    is_unseen_elsewhere_ = last_unseen_ = false;
    keep(free, std::move(members), std::move(now));
  }

  // One of ours goes, and has worked so long in all; nothing: unknown.
  void leave(int process, std::int64_t time) {
    auto const before = members_.find(process);
    std::int64_t const counted = before == members_.end() ? 0 : before->second;
    if (before != members_.end()) members_.erase(before);
    if (time == unknown || counted == unknown)
      has_lost_track_ = true;
    else
      worked_by_gone_ += std::max<std::int64_t>(0, time - counted);
  }

  // The same with times that the caller has read.
  void compare(policy::CoreMap const& machine, policy::PositionSet const& free,
               std::vector<platform::CpuTimes> now, Members members) {
    has_changed_ = false;
    if (has_lost_track_) return keep(free, std::move(members), std::move(now));
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
    // our own programs' work, between regions
    if (is_known && worked - *ours <= half_a_cpu) busy = {};
    note(busy, is_known ? std::optional(worked - *ours - seen > half_a_cpu) : std::nullopt);
    keep(free, std::move(members), std::move(now));
  }

  CpuSet const& busy() const noexcept { return busy_; }
  bool is_unseen_elsewhere() const noexcept { return is_unseen_elsewhere_; }
  bool has_changed() const noexcept { return has_changed_; }

 private:
  std::optional<std::int64_t> worked_since(Members const& now) const {
    std::int64_t sum = worked_by_gone_;
    for (auto const& [process, time] : now) {
      auto const before = members_.find(process);
      std::int64_t const counted = before == members_.end() ? 0 : before->second;
      if (time == unknown || counted == unknown) return std::nullopt;
      sum += std::max<std::int64_t>(0, time - counted);
    }
    return sum;
  }
  void keep(policy::PositionSet const& free, Members members, std::vector<platform::CpuTimes> now) {
    before_ = std::move(now);
    free_before_ = free;
    members_ = std::move(members);
    worked_by_gone_ = 0;
    has_lost_track_ = false;
  }
  // Load that was seen on cpus that are now leased need not be seen twice.
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
  std::int64_t worked_by_gone_ = 0;  // since then
  bool has_lost_track_ = false;      // of a program that is gone
  CpuSet busy_;
  bool is_unseen_elsewhere_ = false;
  bool last_unseen_ = false;
  bool has_changed_ = false;
};

}  // namespace nigh::coordinator
