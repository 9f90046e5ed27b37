// SPDX-License-Identifier: Apache-2.0
#pragma once
// A loop that modelled threads run: which step each of them takes next, by the product's
// LoopSchedule and, where it has spans to visit, by its victim plans; or as a fork-join runtime
// that splits ranges (Cilk) would have it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/loops/loop_schedule.hpp"
#include "policy/stealing/steal_order.hpp"
#include "sim/random.hpp"
#include "sim/team.hpp"

namespace nigh::sim {

class LoopRun {
 public:
  // The team lives longer.
  LoopRun(schedule_kind kind, std::size_t chunk, std::size_t steps, Team const& team);
  // One thread has all and takes `grain` at a time; others take half of what one has whom they draw
  // at random.
  static LoopRun split_by_thieves(std::size_t grain, std::size_t steps, Team const& team);

  // Nothing: there is nothing left for this thread.
  std::optional<std::size_t> next(int thread, Random& random);

  bool is_through() const noexcept { return through_ == hands_.size(); }  // all threads are
  std::string states() const;                                             // a line for each

 private:
  bool refill(int thread, Random& random);
  bool visit(int thread);
  bool steal(int thread, Random& random);
  std::uint32_t owner_takes(std::uint32_t left) const noexcept {
    return grain_ == 0 ? how_.owner_takes(left) : left < grain_ ? left : grain_;
  }

  Team const& team_;
  policy::LoopSchedule how_;
  std::uint32_t grain_ = 0;  // 0: by the schedule
  std::vector<policy::Units> spans_;
  std::vector<policy::Hand> hands_;   // [thread]
  std::vector<policy::Steps> begun_;  // [thread]: of its hand
  enum class Doing : std::uint8_t { coming, at_step, through };
  std::vector<Doing> doing_;  // [thread]
  std::size_t through_ = 0;   // threads
};

}  // namespace nigh::sim
