// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/problems.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nigh/runtime.hpp>
#include <span>

#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

// About as many bytes as Jacobi's grid has: far beyond any cache.
std::size_t side_of(stencils::Problem const& p, JacobiOptions const& o) {
  double const points =
      static_cast<double>(o.grid.sites() * 16) / static_cast<double>(p.bytes_per_point);
  double const side = p.dimensions == 2 ? std::sqrt(points) : std::cbrt(points);
  return std::max<std::size_t>(static_cast<std::size_t>(side), 8);
}

// To search: the widths that are asked for, or some around the chosen one, whatever that will be.
std::vector<ProblemTiles> tiles_of(TemporalOptions const& all) {
  std::vector<ProblemTiles> tiles(1);
  if (!all.search) return tiles;
  for (int const width : all.widths) tiles.push_back({.asked = static_cast<std::size_t>(width)});
  if (all.widths.empty())
    for (double const part : {0.5, 0.75, 1.5, 2.0}) tiles.push_back({.of_chosen = part});
  return tiles;
}

std::size_t part_of(std::size_t chosen, double part) {
  return std::max<std::size_t>(static_cast<std::size_t>(part * static_cast<double>(chosen)), 2);
}

std::string width_of(ProblemTiles const& t) {
  return t.plan.in_tiles ? std::to_string(t.plan.width) : "-";
}

// Beside the best of those searched that were tiles, if any.
std::string compare(ProblemCell const& c) {
  ProblemTiles const* best = nullptr;
  for (auto const& t : std::span(c.tiles).subspan(1))
    if (t.plan.in_tiles && (best == nullptr || median_of(t.rates) > median_of(best->rates)))
      best = &t;
  if (best == nullptr) return fmt::format("{}: no tiles of the widths searched\n", c.problem.name);
  auto const& chosen = c.tiles.front();
  return fmt::format(
      "{}: tiles of the chosen width, {}, beside the best of those searched ({}): {:.2f}\n",
      c.problem.name, width_of(chosen), width_of(*best),
      median_of_ratios(chosen.rates, best->rates));
}

}  // namespace

std::vector<ProblemCell> study_problems(TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  nigh::runtime runtime(
      {.machine = &o.machine, .workers = o.team.threads(), .queue_level = nigh::level::l3});
  auto const tiles = tiles_of(all);
  std::vector<ProblemCell> cells;
  for (auto const& p : stencils::problems()) cells.push_back({p, side_of(p, o), {}, tiles});
  Progress progress(static_cast<int>(cells.size() * (1 + tiles.size())) * o.repetitions);
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (ProblemCell& c : cells) {
      auto const solve = [&](nigh::stencil_options how, std::vector<double>& rates) {
        progress.step(std::string(c.problem.name));
        how.where = &runtime;
        auto const done = c.problem.solve(c.side, static_cast<std::size_t>(all.steps), how);
        rates.push_back(done.updates / done.seconds / 1e6);
        c.verified = c.verified && std::abs(done.conserved - done.expected) <=
                                       done.most_off * std::abs(done.expected);
        return done;
      };
      auto const swept = solve({.plain_sweeps = true}, c.sweeps);
      for (ProblemTiles& t : c.tiles) {
        if (t.of_chosen > 0) t.asked = part_of(c.tiles.front().plan.width, t.of_chosen);
        auto const tiled = solve({.tile_width = t.asked}, t.rates);
        t.plan = tiled.plan;
        c.verified = c.verified && swept.bits == tiled.bits;
      }
    }
  return cells;
}

std::string describe(std::vector<ProblemCell> const& cells, TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  Table t;
  std::string searched;
  t.row({"problem", "side", "width", "KiB in use", "sweeps", "tiles", "tiles / sweeps"});
  t.rule();
  for (ProblemCell const& c : cells) {
    for (ProblemTiles const& tiles : c.tiles)
      t.row({std::string(c.problem.name), std::to_string(c.side), width_of(tiles),
             fmt::format("{}", tiles.plan.window_bytes / 1024),
             fmt::format("{:.1f}", median_of(c.sweeps)),
             fmt::format("{:.1f}", median_of(tiles.rates)),
             fmt::format("{:.2f}{}", median_of_ratios(tiles.rates, c.sweeps),
                         c.verified ? "" : " WRONG")});
    if (all.search) searched += compare(c);
  }
  return fmt::format(
             "{} time steps, {} threads; million updates a second, medians of {} samples, in "
             "turn\n\n",
             all.steps, o.team.threads(), o.repetitions) +
         t.text() + (searched.empty() ? "" : "\n" + searched);
}

std::vector<Result> results(std::vector<ProblemCell> const& cells, TemporalOptions const& all) {
  std::vector<Result> list;
  for (ProblemCell const& c : cells) {
    auto const add = [&](std::string variant, std::size_t width, std::vector<double> const& rates) {
      Result r;
      r.bench = "temporal/problems";
      r.variant = std::move(variant);
      r.params = {{"problem", std::string(c.problem.name)},
                  {"side", static_cast<long>(c.side)},
                  {"steps", static_cast<long>(all.steps)},
                  {"threads", static_cast<long>(all.solver->team.threads())},
                  {"width", static_cast<long>(width)}};
      r.metric = "rate";
      r.unit = "MLUP/s";
      r.samples = rates;
      r.verified = c.verified;
      list.push_back(std::move(r));
    };
    add("nigh/sweeps", 0, c.sweeps);
    for (ProblemTiles const& t : c.tiles)
      add(t.asked == 0 ? "nigh/temporal" : fmt::format("nigh/temporal {}", t.asked),
          t.plan.in_tiles ? t.plan.width : 0, t.rates);
  }
  return list;
}

}  // namespace bench
