// SPDX-License-Identifier: Apache-2.0
#pragma once
// The updates and bytes of a tile, or of a thread's part of a sweep.
//
//   from memory    the planes that it writes and those beside them, both copies, once for all of
//                  its steps; not what its cache still has
//   from a cache   all else: the planes, rows and steps that follow each other within the tile, as
//                  far as what is in use at a time fits the worker's part of the caches
//
// Of a plane that lies partly in obstacles, only the rest counts.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "policy/tiles/time_tiles.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/temporal/temporal.hpp"

namespace nigh::sim {

// The part of a grid's planes that the caches have, both copies of each.
//
// A cache is an L3 and the L2s of its cores. It has those planes that its cores were the last to
// write, or what is left of them: it replaces at random, so that a line outlives so many bytes come
// in behind it with the chance exp(-bytes / size).

class PlaneCaches {
 public:
  // bytes: of each cache; 0: it keeps nothing.
  PlaneCaches(std::size_t planes, std::vector<double> bytes)
      : bytes_(std::move(bytes)), came_in_(bytes_.size(), 0), planes_(planes) {}

  // The share of a plane that is there.
  double held(int cache, std::int64_t plane) const noexcept {
    auto const& p = planes_[static_cast<std::size_t>(plane)];
    auto const c = static_cast<std::size_t>(cache);
    return p.cache == cache && bytes_[c] > 0 ? std::exp((p.then - came_in_[c]) / bytes_[c]) : 0;
  }
  void write(int cache, std::int64_t plane) noexcept {
    planes_[static_cast<std::size_t>(plane)] = {cache, came_in_[static_cast<std::size_t>(cache)]};
  }
  void bring_in(int cache, double bytes) noexcept {
    came_in_[static_cast<std::size_t>(cache)] += bytes;
  }

 private:
  struct Plane {
    int cache = -1;   // whose cores were the last to write it; -1: nobody was
    double then = 0;  // came_in_, when they began
  };

  std::vector<double> bytes_, came_in_;  // [cache]
  std::vector<Plane> planes_;
};

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
