// SPDX-License-Identifier: Apache-2.0
// nigh bench temporal: a stencil's time steps in tiles that stay in a cache.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nigh/runtime.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/options.hpp"
#include "bench/results.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "bench/temporal/study.hpp"
#include "platform/progress.hpp"
#include "stencils/run.hpp"

namespace bench {

namespace {

// Other stencils: sweeps beside tiles of the width that is chosen, and of others.

struct ProblemTiles {
  std::size_t asked = 0;  // planes; 0: the library chooses
  double of_chosen = 0;   // what is asked for as soon as that is known; 0: `asked` is as it is
  nigh::stencil_plan plan = {};    // sweeps, where the grid has no room for such tiles
  std::vector<double> rates = {};  // million updates a second
};

struct ProblemCell {
  stencils::Problem problem;
  std::size_t side = 0;
  std::vector<double> sweeps;       // million updates a second
  std::vector<ProblemTiles> tiles;  // first those that are chosen
  bool verified = true;
};

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

std::vector<ProblemCell> study_problems(TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  nigh::runtime runtime(
      {.machine = &o.machine, .workers = o.team.threads(), .queue_level = nigh::level::l3});
  auto const tiles = tiles_of(all);
  std::vector<ProblemCell> cells;
  for (auto const& p : stencils::problems()) cells.push_back({p, side_of(p, o), {}, tiles});
  nigh::platform::Progress progress(static_cast<int>(cells.size() * (1 + tiles.size())) *
                                    o.repetitions);
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

struct TemporalFlags : Flags {  // as typed
  std::string widths, rows, isa, obstacles, variant;
  JacobiFlags solver;
  std::optional<long> steps;
  bool problems = false, search = false, report = false;
};

void refuse_beside_problems(TemporalFlags const& f) {
  std::pair<char const*, std::string const&> const others[] = {
      {"--variant", f.variant}, {"--obstacles", f.obstacles}, {"--rows", f.rows}, {"--isa", f.isa}};
  for (auto const& [flag, value] : others)
    if (!value.empty()) refuse(flag, value, "is of Jacobi's solver, and not of --problems");
  if (!f.widths.empty() && !f.search)
    refuse("--widths", f.widths, "goes with --problems where --search does");
  if (f.solver.pages != JacobiFlags().pages)
    refuse("--pages", f.solver.pages, "are of Jacobi's grids, and not of --problems");
  if (!f.plot.empty()) refuse("--plot", f.plot, "cannot be: there is no figure of --problems");
}

TemporalOptions check(TemporalFlags const& f) {
  JacobiFlags solver = f.solver;
  solver.quick = f.quick;
  solver.isa = f.isa;
  solver.stores = "plain";
  solver.repetitions = number_or("--repetitions", f.repetitions, f.quick ? 2 : 5, 1'000'000);
  TemporalOptions o;
  o.steps = static_cast<int>(number_or("--steps", f.steps, f.quick ? 6 : 32, 1'000'000));
  solver.sweeps = o.steps;
  o.solver = check(solver);
  auto const planes = static_cast<int>(o.solver->grid.k);
  constexpr int most_planes = 1'000'000;  // of other stencils, whose grids differ
  o.variant = f.variant;
  o.report = f.report;
  o.search = f.search;
  if (f.search && !f.variant.empty()) refuse("--search", "--variant", "does not go with it");
  if (f.problems) refuse_beside_problems(f);
  if (!f.widths.empty()) {
    o.widths = numbers("--widths", f.widths, f.problems ? most_planes : planes);
  } else if (f.variant.empty() && !f.problems) {
    for (int const w : {4, 8, 12, 16, 24, 32})
      if (w <= planes) o.widths.push_back(w);
  }
  if (!o.widths.empty() && o.widths.front() < 2)
    refuse("--widths", "1", "is less than a tile can have, which is 2");
  if (!f.variant.empty() && o.widths.size() > 1)
    refuse("--widths", f.widths, "are many, and one variant alone has one");
  if (f.report && f.variant.empty()) refuse("--report", "--variant", "is missing beside it");
  if (f.solver.init != JacobiFlags().init && f.variant.empty())
    refuse("--init", f.solver.init, "is of one variant alone (--variant)");
  constexpr int most_in_one_go = 4096;  // tiles begin anew there
  if (f.report && o.steps > most_in_one_go)
    refuse("--steps", std::to_string(o.steps), "is more than --report counts, which is 4096");
  if (!f.rows.empty()) o.rows = numbers("--rows", f.rows, 1'000'000).front();
  o.obstacles = each<bool>("--obstacles", f.obstacles.empty() ? "no,yes" : f.obstacles,
                           [](auto const& argument, auto const& word) {
                             if (word != "no" && word != "yes")
                               refuse(argument, word, "is not yes or no");
                             return word == "yes";
                           });
  return o;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  TemporalFlags f;
  std::optional<TemporalOptions> o;
  return run_benchmark(
      {.name = "temporal",
       .measures =
           "a stencil's time steps in tiles that stay in a cache: beyond the bandwidth limit",
       .wrong = "a field differs from that of plain sweeps",
       .samples = "each; default 5",
       .quick = "a small grid and few samples",
       .options =
           [&](CLI::App& app) {
             app.add_option("--grid", f.solver.grid,
                            "interior sites, as 600x600x600 (default) or 600")
                 ->type_name("SIZE");
             app.add_option("--steps", f.steps, "time steps in one sample; default 32");
             app.add_option("--widths", f.widths,
                            "planes of a tile, as 8,16; default 4,8,12,16,24,32")
                 ->type_name("LIST");
             app.add_option("--rows", f.rows,
                            "rows that a step takes at a time within a tile; default: chosen")
                 ->type_name("HOW");
             app.add_option(
                    "--obstacles", f.obstacles,
                    "no, yes or both as no,yes (default): solid bricks, where nothing is computed")
                 ->type_name("LIST");
             app.add_option("--threads", f.solver.threads,
                            "threads of each variant; default: one for each allowed cpu");
             app.add_option("--topology", f.solver.topology, "run on these cpus only, as 0-2,5")
                 ->type_name("CPUS");
             app.add_option("--isa", f.isa,
                            "kernel for baseline, avx2 or avx512; default: the widest there is")
                 ->type_name("NAME");
             app.add_option("--pages", f.solver.pages, "auto, small or huge")->type_name("HOW");
             app.add_flag(
                 "--search", f.search,
                 "only the library's tiles of each width beside the one it chooses, and its "
                 "sweeps; with "
                 "--problems, other widths than the chosen one: --widths, or half of it to twice");
             app.add_flag(
                 "--problems", f.problems,
                 "instead: other stencils, in sweeps and in tiles of the width that is chosen");
             app.add_option(
                    "--variant", f.variant,
                    "run this one alone: nigh/temporal, openmp/temporal or openmp/temporal-dynamic")
                 ->type_name("NAME")
                 ->group("One variant alone");
             app.add_option("--init", f.solver.init,
                            "whose pages: static (default), cyclic (\"static,1\") or ld0")
                 ->type_name("HOW")
                 ->group("One variant alone");
             app.add_flag("--report", f.report, "where pages and tiles were")
                 ->group("One variant alone");
           },
       .plan = [&]() -> Plan {
         o = check(f);
         if (!o->variant.empty()) return {.instead = [&] { run_single(*o); }};
         Plan plan{&o->solver->machine};
         if (f.problems)
           plan.parts.push_back([&] { return findings(study_problems(*o), *o); });
         else
           plan.parts.push_back([&] { return findings(study(*o), *o); });
         return plan;
       }},
      f, argc, argv);
}
