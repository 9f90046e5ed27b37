// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which runs of a trial have its team; the others have the usual one. The order is one that no
// rhythm of the program's own follows (Thue and Morse's), with each entry twice: the first run
// after another has to change the team, the second is reported.

#include <cstdint>

namespace nigh::coordinator {

struct TrialRuns {
  static constexpr std::uint32_t count = 16;
  static constexpr std::uint32_t with_its_team = 0b1100'0011'0011'1100;

  static constexpr bool has_its_team(std::uint32_t run) noexcept {
    return (with_its_team >> run & 1) != 0;
  }
  static constexpr bool is_reported(std::uint32_t run) noexcept {
    return run > 0 && has_its_team(run) == has_its_team(run - 1);
  }
  // True ends the trial: a run with so many threads took too long, where `usual_team` take `usual`.
  // Fewer threads may take longer in proportion, more threads may take no longer at all.
  static constexpr bool takes_too_long(double took, std::uint32_t threads, double usual,
                                       std::uint32_t usual_team) noexcept {
    double const fewer = threads < usual_team ? static_cast<double>(usual_team) / threads : 1;
    return took > 1.25 * usual * fewer;
  }
};
static_assert(TrialRuns::takes_too_long(1.3, 4, 1, 2) && !TrialRuns::takes_too_long(2.4, 1, 1, 2));
static_assert(!TrialRuns::has_its_team(0) && TrialRuns::has_its_team(2));

}  // namespace nigh::coordinator
