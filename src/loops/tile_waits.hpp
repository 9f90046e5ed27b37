// SPDX-License-Identifier: Apache-2.0
#pragma once
// TileWaits: how many of the tiles that a tile needs are not done? The thread that ends the last of
// them runs it.
//
// (tile_waits.T) That thread sees what all of them have written, and nothing they have read is
//     overwritten too early: each step down releases what its thread did, and the last step
//     acquires it from all.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"

namespace nigh::loops {

class TileWaits {
 public:
  // The counts of policy::predecessors(). Threads that count learn of this object only after its
  // construction.
  explicit TileWaits(std::span<std::optional<int> const> before)
      : waits_(std::make_unique<sync::atomic<int>[]>(before.size())) {
    for (std::size_t n = 0; n < before.size(); ++n)
      waits_[n].store(before[n].value_or(0), sync::relaxed);
  }

  // A neighbour of this tile is done. True: it was the last one that the tile needs. Never for a
  // tile without points.
  bool count_down(std::size_t n) noexcept {
    base::announce_release(&waits_[n]);
    if (waits_[n].fetch_sub(1, sync::acq_rel) != 1) return false;  // (tile_waits.T)
    base::announce_acquire(&waits_[n]);
    return true;
  }

 private:
  std::unique_ptr<sync::atomic<int>[]> waits_;  // [number]
};

}  // namespace nigh::loops
