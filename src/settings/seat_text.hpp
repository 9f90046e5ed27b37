// SPDX-License-Identifier: Apache-2.0
#pragma once
// The seats of a machine as text, for those who cannot look at it themselves: all cpus in hardware
// order, between two of them the largest set that they do not share.
//
//   @ package   / domain   : L3   , L2   . core   + of one core
//
//   2 packages of 2 cores of 2 cpus each     0+4,1+5@2+6,3+7

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "policy/spread/team_seats.hpp"

namespace nigh::policy {

struct CpuSeats {
  std::vector<TeamSeats::Seat> seats;
  std::vector<int> cpus;  // of the seats
};

namespace detail {
inline constexpr std::string_view seat_borders = "@/:,.+";  // by TeamSeats::Set
}

inline std::string seat_text(TeamSeats const& seats, std::vector<int> const& cpu_of) {
  std::string text;
  TeamSeats::Seat const* before = nullptr;
  for (auto const& seat : seats.all()) {
    std::size_t shared = 0;
    if (before != nullptr) {
      while (shared < TeamSeats::sets && seat.in[shared] == before->in[shared]) ++shared;
      text += detail::seat_borders[shared];
    }
    text += std::to_string(cpu_of[static_cast<std::size_t>(seat.worker)]);
    before = &seat;
  }
  return text;
}

// Nothing: it is no such text.
inline std::optional<CpuSeats> parse_seats(std::string_view text) {
  CpuSeats all;
  TeamSeats::Seat seat{};
  for (;;) {
    int cpu = 0;
    auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), cpu);
    if (failed != std::errc() || cpu < 0) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    seat.domain = seat.in[TeamSeats::domain];
    all.seats.push_back(seat);
    all.cpus.push_back(cpu);
    if (text.empty()) return all;
    auto const border = detail::seat_borders.find(text.front());
    if (border == detail::seat_borders.npos) return {};
    for (auto s = border; s < TeamSeats::sets; ++s) ++seat.in[s];
    text.remove_prefix(1);
  }
}

}  // namespace nigh::policy
