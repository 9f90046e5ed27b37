// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/problems.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nigh/runtime.hpp>

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

}  // namespace

std::vector<ProblemCell> study_problems(TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  nigh::runtime runtime({.machine = &o.machine,
                         .workers = o.team.threads(),
                         .queue_level = nigh::level::l3});
  std::vector<ProblemCell> cells;
  for (auto const& p : stencils::problems()) cells.push_back({p, side_of(p, o), {}, {}, {}, true});
  Progress progress(2 * static_cast<int>(cells.size()) * o.repetitions);
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (ProblemCell& c : cells) {
      auto const solve = [&](bool in_sweeps) {
        progress.step(std::string(c.problem.name));
        auto const done = c.problem.solve(c.side, static_cast<std::size_t>(all.steps),
                                          {.plain_sweeps = in_sweeps, .where = &runtime});
        (in_sweeps ? c.sweeps : c.tiles).push_back(done.updates / done.seconds / 1e6);
        c.verified = c.verified && std::abs(done.conserved - done.expected) <=
                                       done.most_off * std::abs(done.expected);
        return done;
      };
      auto const swept = solve(true);
      auto const tiled = solve(false);
      c.plan = tiled.plan;
      c.verified = c.verified && swept.bits == tiled.bits;
    }
  return cells;
}

std::string describe(std::vector<ProblemCell> const& cells, TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  Table t;
  t.row({"problem", "side", "width", "KiB in use", "sweeps", "tiles", "tiles / sweeps"});
  t.rule();
  for (ProblemCell const& c : cells)
    t.row({std::string(c.problem.name), std::to_string(c.side),
           c.plan.in_tiles ? std::to_string(c.plan.width) : "-",
           fmt::format("{}", c.plan.window_bytes / 1024), fmt::format("{:.1f}", median_of(c.sweeps)),
           fmt::format("{:.1f}", median_of(c.tiles)),
           fmt::format("{:.2f}{}", median_of_ratios(c.tiles, c.sweeps),
                       c.verified ? "" : " WRONG")});
  return fmt::format(
             "{} time steps, {} threads; million updates a second, medians of {} samples, in turn\n\n",
             all.steps, o.team.threads(), o.repetitions) +
         t.text();
}

std::vector<Result> results(std::vector<ProblemCell> const& cells, TemporalOptions const& all) {
  std::vector<Result> list;
  for (ProblemCell const& c : cells)
    for (bool const in_tiles : {false, true}) {
      Result r;
      r.bench = "temporal/problems";
      r.variant = in_tiles ? "nigh/temporal" : "nigh/sweeps";
      r.params = {{"problem", std::string(c.problem.name)},
                  {"side", static_cast<long>(c.side)},
                  {"steps", static_cast<long>(all.steps)},
                  {"threads", static_cast<long>(all.solver->team.threads())},
                  {"width", in_tiles && c.plan.in_tiles ? static_cast<long>(c.plan.width) : 0L}};
      r.metric = "rate";
      r.unit = "MLUP/s";
      r.samples = in_tiles ? c.tiles : c.sweeps;
      r.verified = c.verified;
      list.push_back(std::move(r));
    }
  return list;
}

}  // namespace bench
