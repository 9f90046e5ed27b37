// SPDX-License-Identifier: Apache-2.0
// nigh bench temporal: a stencil's time steps in tiles that stay in a cache.
#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "bench/benchmark.hpp"
#include "bench/command.hpp"
#include "bench/options.hpp"
#include "bench/temporal/problems.hpp"
#include "bench/temporal/single.hpp"
#include "bench/temporal/study.hpp"

namespace bench {
namespace {

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
                            "interior sites, as 600x600x600 (default) or 600");
             app.add_option("--steps", f.steps, "time steps in one sample; default 32");
             app.add_option("--widths", f.widths,
                            "planes of a tile, as 8,16; default 4,8,12,16,24,32");
             app.add_option("--rows", f.rows,
                            "rows that a step takes at a time within a tile; default: chosen");
             app.add_option(
                 "--obstacles", f.obstacles,
                 "no, yes or both as no,yes (default): solid bricks, where nothing is computed");
             app.add_option("--threads", f.solver.threads,
                            "threads of each variant; default: one for each allowed cpu");
             app.add_option("--topology", f.solver.topology, "run on these cpus only, as 0-2,5");
             app.add_option("--isa", f.isa,
                            "kernel for baseline, avx2 or avx512; default: the widest there is");
             app.add_option("--pages", f.solver.pages, "auto, small or huge");
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
                 ->group("One variant alone");
             app.add_option("--init", f.solver.init,
                            "whose pages: static (default), cyclic (\"static,1\") or ld0")
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
