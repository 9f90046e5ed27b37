// SPDX-License-Identifier: Apache-2.0
// Stencils: from a request to a plan; then in tiles (tile_run.hpp) or in sweeps.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nigh/parallel_for.hpp>
#include <nigh/stencil.hpp>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/verbose.hpp"
#include "loops/tile_run.hpp"
#include "loops/write_check.hpp"
#include "policy/tiles/tile_size.hpp"
#include "runtime/scheduler.hpp"
#include "topology/cache_share.hpp"

namespace nigh::loops {
namespace {

using detail::stencil_need;
using detail::stencil_part;
using detail::stencil_work;

// So many steps are cut into tiles at a time, which bounds the memory for their counts.
constexpr std::size_t most_steps = 4096;

[[noreturn]] void refuse_stencil(std::string const& option, std::string const& why) {
  throw std::invalid_argument("nigh::stencil: " + option + ": " + why);
}

void say_of_stencil(std::string const& note) {
  if (base::is_verbose()) std::fprintf(stderr, "nigh: stencil: %s\n", note.c_str());
}

policy::TileSize tile_for(policy::TileNeed const& need, stencil_options const& options,
                          policy::TileRoom const& room) {
  auto const least = 2 * need.reach;
  auto const asked_steps = static_cast<std::int64_t>(options.tile_steps) * need.reach;
  auto size = policy::choose_tile(need, room);
  if (options.tile_width > 0)
    size.width = static_cast<std::int64_t>(options.tile_width);
  else if (asked_steps > 0)
    size.width = std::max(asked_steps, least);
  if (options.tile_rows > 0) size.rows = static_cast<std::int64_t>(options.tile_rows);
  if (size.width < least)
    refuse_stencil("tile_width", std::to_string(size.width) + " is less than twice the reach, " +
                             std::to_string(least));
  if (asked_steps > size.width)
    refuse_stencil("tile_steps", "a tile " + std::to_string(size.width) + " wide has " +
                             std::to_string(size.width / need.reach) + " steps, not " +
                             std::to_string(options.tile_steps));
  return size;
}

void check(stencil_need const& need, stencil_options const& options) {
  constexpr std::size_t most = std::size_t{1} << 40;
  auto const at_most = [](char const* name, std::size_t n) {
    if (n > most) refuse_stencil(name, "more than 2^40");
  };
  for (auto const n : {need.points, need.rows, need.row_points}) {
    if (n == 0) refuse_stencil("points", "there are none");
    at_most("points", n);
  }
  if (need.reach == 0) refuse_stencil("reach", "0 is no neighbour");
  at_most("reach", need.reach);
  at_most("point_bytes", need.point_bytes);
  if (std::size_t row_bytes; __builtin_mul_overflow(need.row_points, need.point_bytes, &row_bytes))
    refuse_stencil("point_bytes", "a row of them is more than 64 bits can count");
  if (need.data != nullptr && need.plane_bytes == 0) refuse_stencil("plane_bytes", "0, though there is data");
  at_most("tile_width", options.tile_width);
  at_most("tile_rows", options.tile_rows);
  if (options.tile_steps > most / need.reach)
    refuse_stencil("tile_steps", "more than 2^40 points for the reach");
}

bool environment_checks_writes() {
  char const* const value = std::getenv("NIGH_CHECK_WRITES");
  return value != nullptr && std::string_view(value) == "1";
}

bool checks_writes(stencil_need const& need, stencil_options const& options) {
  bool const can = !need.arrays.empty();
  if (options.checked && !can)
    refuse_stencil("checked", "no array is named in the shape, so that nothing could be looked at");
  if (!can && environment_checks_writes()) say_of_stencil("no array is named: writes are not checked");
  return can && (options.checked || environment_checks_writes());
}

// Each update, followed by a check of what it wrote.
struct CheckedWork {
  stencil_work const& work;
  WriteCheck check;

  static void update(void* self, std::span<stencil_part const> parts) {
    auto const& me = *static_cast<CheckedWork const*>(self);
    for (auto const& part : parts) {
      auto const was = me.check.before(part);
      me.work.update(me.work.self, {&part, 1});
      me.check.after(part, was);
    }
  }
  static double norm(void* self, stencil_part const& part) {
    auto const& work = static_cast<CheckedWork const*>(self)->work;
    return work.norm(work.self, part);
  }
};

}  // namespace
}  // namespace nigh::loops

namespace nigh::detail {

tasks::Pool& stencil_engine::pool() const {
  if (options_.where != nullptr) return runtime_access::scheduler(*options_.where).pool();
  auto* const me = this_stack->worker;
  return me != nullptr ? me->pool : default_scheduler().pool();
}

stencil_engine::stencil_engine(stencil_need const& need, stencil_options const& options)
    : need_(need), options_(options) {
  loops::check(need, options);
  loops::WriteCheck::complete(need_);
  plan_.checked = loops::checks_writes(need, options);
  auto const& workers = pool();
  policy::TileNeed const tile{.points = static_cast<std::int64_t>(need.points),
                              .rows = static_cast<std::int64_t>(need.rows),
                              .reach = static_cast<std::int64_t>(need.reach),
                              .row_bytes = need.row_points * need.point_bytes,
                              .workers = workers.layout.workers()};
  auto const cache = topologies::cache_share(workers.machine, workers.layout.cpus());
  auto const size = loops::tile_for(tile, options, policy::room_for_tiles(cache.l2, cache.last));
  plan_.width = static_cast<std::size_t>(size.width);
  plan_.steps = plan_.width / need.reach;
  plan_.rows = static_cast<std::size_t>(size.rows);
  plan_.window_bytes = policy::window_bytes(tile, size);
  plan_.in_tiles = !options.plain_sweeps && plan_.width <= need.points;
  if (plan_.in_tiles && options.tile_steps > 0 && plan_.steps > options.tile_steps)
    loops::say_of_stencil("tiles " + std::to_string(plan_.width) + " wide have " + std::to_string(plan_.steps) +
               " steps, " + std::to_string(options.tile_steps) + " were asked for");
  if (!plan_.in_tiles && !options.plain_sweeps) {
    plan_.note = std::to_string(need.points) + " points are less than a tile of " +
                 std::to_string(plan_.width) + ": plain sweeps";
    loops::say_of_stencil(plan_.note);
  }
}

double stencil_engine::run(std::size_t first, std::size_t steps, stencil_work work) const {
  loops::CheckedWork checked{work, loops::WriteCheck(need_)};
  stencil_work const all = !plan_.checked
                               ? work
                               : stencil_work{&checked, &checked.update,
                                              work.norm != nullptr ? &checked.norm : nullptr};
  return plan_.in_tiles ? run_tiles(first, steps, all) : run_sweeps(first, steps, all);
}

double stencil_engine::run_tiles(std::size_t first, std::size_t steps,
                                 stencil_work const& work) const {
  loops::Homes const homes(pool(), need_);
  auto const run_all = [&](std::size_t count, stencil_work const& what) {
    loops::TileRun tiles(need_, plan_, first, count, what, homes);
    return tiles.run(options_.where, one_at_a_time());
  };
  while (steps > loops::most_steps) {
    run_all(loops::most_steps, {work.self, work.update, nullptr});
    first += loops::most_steps;
    steps -= loops::most_steps;
  }
  return run_all(steps, work);
}

double stencil_engine::run_sweeps(std::size_t first, std::size_t steps,
                                  stencil_work const& work) const {
  std::vector<double> norms(work.norm != nullptr ? need_.points : 0, 0);  // [plane]
  auto const sweep = [&](std::size_t s, index_range planes) {
    stencil_part const part{s, planes.begin, planes.end, 0, need_.rows};
    work.update(work.self, {&part, 1});
    if (work.norm == nullptr || s < first + steps) return;
    for (auto z = planes.begin; z < planes.end; ++z)
      norms[z] = work.norm(work.self, {s, z, z + 1, 0, need_.rows});
  };
  bool const alone = one_at_a_time();  // then a step is one piece of a loop, plane by plane
  for (std::size_t s = first + 1; s <= first + steps; ++s)
    parallel_for(
        0, need_.points,
        [&](index_range piece) {
          auto const planes = alone ? 1 : piece.size();
          for (auto z = piece.begin; z < piece.end; z += planes) sweep(s, {z, z + planes});
        },
        loop_options{.where = options_.where, .grain = alone ? need_.points : 0});
  return std::accumulate(norms.begin(), norms.end(), 0.0);
}

}  // namespace nigh::detail
