// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which runs of a trial have its team; the others have the usual one. In turns that no rhythm of
// the program's own follows (Thue and Morse's), each of them twice: the first run after another has
// to change the team, the second is reported.

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
};
static_assert(!TrialRuns::has_its_team(0) && TrialRuns::has_its_team(2));

}  // namespace nigh::coordinator
