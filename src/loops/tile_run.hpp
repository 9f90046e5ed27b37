// SPDX-License-Identifier: Apache-2.0
#pragma once
// TileRun: which worker runs which tile of a stencil, and when (policy/tiles/time_tiles.hpp says
// what tiles are).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/array.hpp>
#include <nigh/stencil.hpp>
#include <nigh/task_scope.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "loops/tile_waits.hpp"
#include "policy/loops/placement.hpp"
#include "policy/tiles/time_tiles.hpp"
#include "runtime/pool.hpp"

namespace nigh::loops {

// The locality queue of each plane.
class Homes {
 public:
  Homes(tasks::Pool const& pool, detail::stencil_need const& need) : pool_(pool), need_(need) {
    for (int const d : policy::placement_domains(placement::blocked(), pool.machine))
      domains_.push_back(d);
  }

  near of(std::size_t plane, std::size_t bytes) const {
    auto const d = static_cast<std::size_t>(domain_of_plane(plane));
    auto const& queues = pool_.layout.groups_of_domain(static_cast<int>(d));
    auto const rank =
        policy::queue_of_plane(plane, need_.points, domains_.size(), queues.size());
    return near::at_queue(queues[rank], bytes);
  }

 private:
  int domain_of_plane(std::size_t plane) const {
    if (need_.data != nullptr) {
      int const d = domain_of(static_cast<char const*>(need_.data) + plane * need_.plane_bytes,
                              pool_.machine);
      if (d >= 0) return d;
    }
    return domains_[policy::block_of_plane(plane, need_.points, domains_.size())];
  }

  tasks::Pool const& pool_;
  detail::stencil_need const& need_;
  std::vector<int> domains_;
};

// Some steps, all of their tiles.
class TileRun {
 public:
  TileRun(detail::stencil_need const& need, stencil_plan const& plan, std::size_t first, std::size_t steps,
          detail::stencil_work const& work, Homes const& homes)
      : need_(need),
        plan_(plan),
        first_(first),
        steps_(steps),
        work_(work),
        homes_(homes),
        tiles_(static_cast<std::int64_t>(need.points), static_cast<std::int64_t>(need.reach),
               need.periodic[0], static_cast<std::int64_t>(plan.width),
               static_cast<std::int64_t>(steps)),
        norms_(work.norm != nullptr ? tiles_.numbers() : 0, 0) {}

  // The sum of the norms.
  double run(runtime* where, bool one_at_a_time) {
    task_scope scope({.where = where, .rule = on_exception::cancel});
    scope_ = &scope;
    if (one_at_a_time)
      scope.spawn([this] { run_as_numbered(); });
    else
      spawn_first();
    scope.wait();
    return std::accumulate(norms_.begin(), norms_.end(), 0.0);
  }

 private:
  void run_as_numbered() {  // row by row
    for (std::size_t n = 0; n < tiles_.numbers(); ++n)
      if (auto const t = tiles_.tile(n); !tiles_.diamond(t).empty()) run_tile(n, t);
  }

  void spawn_first() {
    auto const before = policy::predecessors(tiles_);
    waits_.emplace(before);  // spawn() publishes it
    for (std::size_t n = 0; n < before.size(); ++n)
      if (before[n] == 0) spawn(n, home_of(n));
  }

  near home_of(std::size_t n) const {
    auto const middle = static_cast<std::size_t>(tiles_.middle(tiles_.tile(n)));
    auto const bytes = plan_.width * need_.rows * need_.row_points * need_.point_bytes;
    return homes_.of(middle, bytes);
  }

  void spawn(std::size_t n, near home) {
    scope_->spawn(home, [this, n] { run_from(n); });
  }

  void run_from(std::size_t n) {
    auto const taken = base::now_ns();
    for (std::optional<std::size_t> next = n; next && !scope_->stop_requested();)
      next = run_and_pass_on(*next, taken);
  }

  // Returns the follower to be run at once, if any; other tiles that waited for this one alone are
  // queued.
  std::optional<std::size_t> run_and_pass_on(std::size_t n, std::int64_t taken) {
    policy::Tile const t = tiles_.tile(n);
    run_tile(n, t);
    std::optional<std::size_t> at_once;
    tiles_.for_each(tiles_.behind(t), [&](std::size_t next) {
      if (!waits_->count_down(next)) return;
      near const home = home_of(next);
      if (!at_once && policy::runs_at_once(home.queue(), queue_here(), base::now_ns() - taken))
        at_once = next;
      else
        spawn(next, home);
    });
    return at_once;
  }

  static int queue_here() noexcept {
    auto const* const me = detail::this_stack->worker;
    return me != nullptr ? me->group : -1;
  }

  // Pieces of a block of rows, step by step, are one call of the update.
  void run_tile(std::size_t n, policy::Tile const& t) {
    auto const diamond = tiles_.diamond(t);
    auto const steps = diamond.steps();
    double norm = 0;
    std::array<detail::stencil_part, detail::most_stencil_parts> parts;
    std::size_t count = 0;
    auto const update = [&] {
      std::span<detail::stencil_part const> const all(parts.data(), std::exchange(count, 0));
      if (!all.empty() && !scope_->stop_requested()) norm += update_and_norm(all);
    };
    policy::for_each_row_piece(
        need_.rows, need_.reach, need_.periodic[1], plan_.rows,
        static_cast<std::size_t>(steps.end - steps.begin),
        [&](std::size_t step, std::size_t row_begin, std::size_t row_end) {
          auto const s = steps.begin + static_cast<std::int64_t>(step);
          auto const number = first_ + static_cast<std::size_t>(s);
          if (count > 0 && number <= parts[count - 1].step) update();
          auto const points = diamond.points(s);
          auto const all = static_cast<std::int64_t>(need_.points);
          for (auto const turn : {-all, std::int64_t{0}, all}) {  // of a ring
            auto const begin = std::max<std::int64_t>(points.begin + turn, 0);
            auto const end = std::min(points.end + turn, all);
            if (begin >= end) continue;
            if (count == parts.size()) update();
            parts[count++] = {number, static_cast<std::size_t>(begin), static_cast<std::size_t>(end),
                              row_begin, row_end};
          }
        });
    update();
    if (!norms_.empty()) norms_[n] = norm;
  }

  double update_and_norm(std::span<detail::stencil_part const> parts) const {
    work_.update(work_.self, parts);
    double norm = 0;
    if (work_.norm != nullptr)
      for (auto const& part : parts)
        if (part.step == first_ + steps_) norm += work_.norm(work_.self, part);
    return norm;
  }

  detail::stencil_need const& need_;
  stencil_plan const& plan_;
  std::size_t first_, steps_;
  detail::stencil_work const& work_;
  Homes const& homes_;
  policy::TimeTiles const tiles_;
  std::optional<TileWaits> waits_;
  std::vector<double> norms_;  // [number]
  task_scope* scope_ = nullptr;
};

}  // namespace nigh::loops
