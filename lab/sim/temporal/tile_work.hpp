// SPDX-License-Identifier: Apache-2.0
#pragma once
// The updates and bytes of a tile, or of a thread's part of a sweep.
//   from memory    the planes that it writes and those beside them, both copies, once for all of
//                  its steps; not what its cache still has
//   from a cache   all else: the planes, rows and steps that follow each other within the tile, as
//                  far as what is in use at a time fits the worker's part of the caches
//
// Of a plane that lies partly in obstacles, only the rest counts.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/tiles/time_tiles.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/temporal/plane_caches.hpp"
#include "sim/temporal/temporal.hpp"

namespace nigh::sim {

struct PlaneUpdates {
  std::int64_t plane = 0;
  double updates = 0;
};

class TileWork {
 public:
  // Of a worker: what a tile has in use at a time, and what of the caches is its own.
  struct Window {
    double bytes = 0, own_bytes = 0, shared_bytes = 0;
  };

  TileWork(Machine const& machine, TemporalCase const& what, Window const& window);

  double updates_of_step(std::int64_t plane) const noexcept {
    return sites_ * free_[static_cast<std::size_t>(plane)];
  }
  double all_updates() const noexcept { return all_updates_; }
  int domain_of(std::int64_t plane) const noexcept;
  std::size_t domains() const noexcept { return domains_.size(); }  // that have planes

  // Of each plane that the tile writes, in order.
  void plan(policy::TimeTiles const& tiles, policy::Tile tile,
            std::vector<PlaneUpdates>& planes) const;
  // Of these updates by a core behind this cache, which has the planes from then on.
  void move(std::vector<PlaneUpdates> const& planes, bool in_tile, int cache, PlaneCaches& caches,
            std::vector<Traffic>& traffic) const;

 private:
  TemporalCase const& what_;
  double sites_;              // of a plane
  double lost_;               // of what a tile uses again, the share that has left the caches
  std::vector<double> free_;  // [plane]: share of its sites
  std::vector<int> domains_;  // in the order of their blocks
  double all_updates_ = 0;
};

}  // namespace nigh::sim
