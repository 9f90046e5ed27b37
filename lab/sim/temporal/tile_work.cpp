// SPDX-License-Identifier: Apache-2.0
#include "sim/temporal/tile_work.hpp"

#include <algorithm>
#include <cstddef>

#include "policy/loops/placement.hpp"
#include "policy/tiles/time_tiles.hpp"
#include "sim/spread/core_caches.hpp"

namespace nigh::sim {

namespace {

// Of a site: a sweep reads one copy and writes the other, which is read first; a tile both.
constexpr double sweep_in_bytes = 16, sweep_out_bytes = 8, tile_bytes = 16;
// The bricks of nigh bench temporal: half of the planes, and there three quarters of the rows.
constexpr double free_among_bricks = 0.25;

}  // namespace

TileWork::TileWork(Machine const& machine, TemporalCase const& what, Window const& window)
    : what_(what),
      sites_(static_cast<double>(what.side) * what.side),
      lost_(window.bytes <= window.own_bytes ? 0
                                             : 1 - kept_share(window.bytes, window.shared_bytes)),
      free_(static_cast<std::size_t>(what.planes), 1),
      domains_(policy::placement_domains(placement::blocked(), machine.shape)) {
  if (!what.has_cache) lost_ = 1;
  if (what.obstacles) std::fill(free_.begin(), free_.begin() + what.planes / 2, free_among_bricks);
  for (double const f : free_) all_updates_ += f * sites_ * what.steps;
}

int TileWork::domain_of(std::int64_t plane) const noexcept {
  return domains_[policy::block_of_plane(static_cast<std::size_t>(plane),
                                         static_cast<std::size_t>(what_.planes), domains_.size())];
}

void TileWork::plan(policy::TimeTiles const& tiles, policy::Tile tile,
                    std::vector<PlaneUpdates>& planes) const {
  planes.clear();
  auto const diamond = tiles.diamond(tile);
  auto const steps = diamond.steps();
  std::int64_t begin = what_.planes, end = 0;
  for (auto s = steps.begin; s < steps.end; ++s)
    if (auto const points = diamond.points(s); !points.empty()) {
      begin = std::min(begin, points.begin);
      end = std::max(end, points.end);
    }
  for (auto p = begin; p < end; ++p) planes.push_back({p, 0});
  for (auto s = steps.begin; s < steps.end; ++s) {
    auto const points = diamond.points(s);
    for (auto p = points.begin; p < points.end; ++p)
      planes[static_cast<std::size_t>(p - begin)].updates += updates_of_step(p);
  }
}

void TileWork::move(std::vector<PlaneUpdates> const& planes, bool in_tile, int cache,
                    PlaneCaches& caches, std::vector<Traffic>& traffic) const {
  double came_in = 0;
  auto const add = [&](std::int64_t plane, double in, double out) {
    auto& t = traffic[static_cast<std::size_t>(domain_of(plane))];
    t.in_gb += in * 1e-9;
    t.out_gb += out * 1e-9;
    came_in += in;
  };
  double const in = in_tile ? tile_bytes : sweep_in_bytes;
  double const out = in_tile ? tile_bytes : sweep_out_bytes;
  auto const reads_beside = [&](std::int64_t plane) {
    if (plane < 0 || plane >= what_.planes) return;
    double const sites = updates_of_step(plane) * (1 - caches.held(cache, plane));
    add(plane, sites * (in_tile ? tile_bytes : tile_bytes / 2), 0);
  };
  reads_beside(planes.front().plane - 1);
  reads_beside(planes.back().plane + 1);
  for (auto const& p : planes) {
    double const sites = updates_of_step(p.plane) * (1 - caches.held(cache, p.plane));
    double const kept = in_tile ? 1 - lost_ : 1;
    add(p.plane, kept * sites * in + (1 - kept) * p.updates * sweep_in_bytes,
        kept * sites * out + (1 - kept) * p.updates * sweep_out_bytes);
    caches.write(cache, p.plane);
  }
  caches.bring_in(cache, came_in);
}

}  // namespace nigh::sim
