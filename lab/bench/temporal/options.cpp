// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/options.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "bench/command.hpp"
#include "bench/options.hpp"

namespace bench {

namespace {

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

}  // namespace

void TemporalFlags::declare(CLI::App& app) {
  app.add_option("--grid", solver.grid, "interior sites, as 600x600x600 (default) or 600");
  app.add_option("--steps", steps, "time steps in one sample; default 32");
  app.add_option("--widths", widths, "planes of a tile, as 8,16; default 4,8,12,16,24,32");
  app.add_option("--rows", rows, "rows that a step takes at a time within a tile; default: chosen");
  app.add_option("--obstacles", obstacles,
                 "no, yes or both as no,yes (default): solid bricks, where nothing is computed");
  app.add_option("--threads", solver.threads,
                 "threads of each variant; default: one for each allowed cpu");
  app.add_option("--topology", solver.topology, "run on these cpus only, as 0-2,5");
  app.add_option("--reps,--repetitions", solver.repetitions, "samples of each; default 5");
  app.add_option("--isa", isa, "kernel for baseline, avx2 or avx512; default: the widest there is");
  app.add_option("--pages", solver.pages, "auto, small or huge");
  app.add_flag("--search", search,
               "only the library's tiles of each width beside the one it chooses, and its sweeps; with "
               "--problems, other widths than the chosen one: --widths, or half of it to twice");
  app.add_flag("--problems", problems,
               "instead: other stencils, in sweeps and in tiles of the width that is chosen");
  app.add_flag("--quick", quick, "a small grid and few samples: does it work?");
  app.add_option("--variant", variant,
                 "run this one alone: nigh/temporal, openmp/temporal or openmp/temporal-dynamic")
      ->group("One variant alone");
  app.add_option("--init", solver.init,
                 "whose pages: static (default), cyclic (\"static,1\") or ld0")
      ->group("One variant alone");
  app.add_flag("--report", report, "where pages and tiles were")->group("One variant alone");
  app.add_option("--json", json, "write results as JSON lines to this file, - for standard output");
  app.add_option("--plot", plot, "draw the results, FILE.svg or FILE.png");
}

TemporalOptions check(TemporalFlags const& f) {
  JacobiFlags solver = f.solver;
  solver.quick = f.quick;
  solver.isa = f.isa;
  solver.stores = "plain";
  solver.repetitions = number_or("--repetitions", f.solver.repetitions, f.quick ? 2 : 5, 1'000'000);
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
                             if (word != "no" && word != "yes") refuse(argument, word, "is not yes or no");
                             return word == "yes";
                           });
  return o;
}

}  // namespace bench
