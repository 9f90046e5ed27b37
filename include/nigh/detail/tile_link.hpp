// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a tile of a scan gets its sum and the value before it, from two threads that do not wait.
//
//   owner    sums the tile up, add_sum(); with the value there, it passes it on to the next tile
//            and scans the tile; without, it looks again later, is_known(), and hands the tile over
//            when it has no other work, hand_over()
//   passer   writes the value before the tile, add_value(); with the sum there, it passes on, and
//            scans the tile if that was handed over
//
// (tile_link.A) One of the two passes on, and sees both: each sets its bit by a read-modify-write
// that
//     releases what it wrote and acquires what the other one wrote. The second one finds the
//     other's bit.
// (tile_link.B) One of the two scans: of hand_over() and add_value(), the second one finds the
// other's
//     bit. The owner then acquires the value here; the passer has acquired the sum by
//     (tile_link.A), and the owner's last look at the tile's elements with it.

#include <cstdint>
#include <nigh/detail/atomic.hpp>

namespace nigh::detail {

class tile_link {
 public:
  enum class found : std::uint8_t { nothing, sum, handed_over };

  bool is_known() const noexcept {
    return (state_.load(sync::acquire) & known) != 0;  // (tile_link.A)
  }
  // True: the value is there.
  bool add_sum() noexcept {
    return (state_.fetch_or(summed, sync::acq_rel) & known) != 0;  // (tile_link.A)
  }
  found add_value() noexcept {
    auto const before = state_.fetch_or(known, sync::acq_rel);  // (tile_link.A)
    if ((before & handed) != 0) return found::handed_over;
    return (before & summed) != 0 ? found::sum : found::nothing;
  }
  // True: the value is there, and the owner scans.
  bool hand_over() noexcept {
    return (state_.fetch_or(handed, sync::acquire) & known) != 0;  // (tile_link.B)
  }

 private:
  static constexpr std::uint32_t known = 1, summed = 2, handed = 4;
  sync::atomic<std::uint32_t> state_{0};
};

}  // namespace nigh::detail
