// SPDX-License-Identifier: Apache-2.0
// How tiles and threads met.

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nigh/locality_mark.h>

#include <cstdint>
#include <nigh/array.hpp>
#include <nigh/stencil.hpp>
#include <stdexcept>
#include <vector>

#include "bench/jacobi3d/problem.hpp"
#include "bench/options.hpp"
#include "bench/temporal/study.hpp"
#include "policy/tiles/time_tiles.hpp"

namespace bench {

namespace {

// -1: of several domains.
int domain_that_ran(nigh::policy::Diamond const& tile, std::int64_t planes,
                    std::vector<std::int16_t> const& wrote_in) {
  auto const steps = tile.steps();
  int domain = -1;
  bool is_first = true;
  for (auto step = steps.begin; step < steps.end; ++step) {
    auto const points = tile.points(step);
    for (auto plane = points.begin; plane < points.end; ++plane) {
      int const d = wrote_in[static_cast<std::size_t>((step - 1) * planes + plane)];
      if (!is_first && d != domain) return -1;
      domain = d;
      is_first = false;
    }
  }
  return domain;
}

// Of a run of so many steps in tiles of this width: those run in the domain where the kernel says
// that their middle lies, and elsewhere; unknown, where it does not say or several domains have run
// parts of one. wrote_in: see jacobi3d::Sweep.
BlockCounts count_tiles(Problem& problem, int width, int steps, nigh::topology const& machine,
                        std::vector<std::int16_t> const& wrote_in) {
  auto const& grid = problem.plan().grid;
  nigh::policy::TimeTiles const tiles(grid.interior.k, 1, false, width, steps);
  BlockCounts counts;
  for (std::size_t n = 0; n < tiles.numbers(); ++n) {
    auto const tile = tiles.tile(n);
    auto const diamond = tiles.diamond(tile);
    if (diamond.empty()) continue;
    auto const middle = grid.at(grid.interior.i / 2, grid.interior.j / 2, tiles.middle(tile));
    int const home = nigh::domain_of(problem.first() + middle, machine);
    int const ran = domain_that_ran(diamond, grid.interior.k, wrote_in);
    ++(home < 0 || ran < 0 ? counts.unknown : home == ran ? counts.local : counts.remote);
  }
  return counts;
}

int width_of(Contestant const& c, JacobiOptions const& o) {
  if (c.width > 0) return c.width;
  nigh::runtime same({.machine = &o.machine, .workers = o.team.threads()});
  auto const size = [](std::ptrdiff_t n) { return static_cast<std::size_t>(n); };
  nigh::stencil<3> const stencil({.points = {size(o.grid.k), size(o.grid.j), size(o.grid.i)}},
                                 {.where = &same});
  if (!stencil.plan().in_tiles) throw UsageError("--grid: " + stencil.plan().note);
  return static_cast<int>(stencil.plan().width);
}

void print_report(Problem const& problem, BlockCounts const& tiles) {
  nigh::page_report const pages = problem.pages();
  fmt::print("pages_of_domain {}\npages_untouched {}\n", fmt::join(pages.pages_of_domain, " "),
             pages.untouched);
  if (!pages.note.empty()) fmt::print("pages_note {}\n", pages.note);
  fmt::print("tiles_local {}\ntiles_remote {}\ntiles_unknown {}\nremote_share {:.4f}\n",
             tiles.local, tiles.remote, tiles.unknown, tiles.remote_share());
}

}  // namespace

void run_single(TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  auto const contestant = tiles_alone(all);
  int const width = width_of(contestant, o);
  PinnedThreads pinned(o.team.cpus);
  Problem problem(o, o.init, pinned);
  problem.run_reference(all.steps);
  auto const expected = problem.checksum();
  problem.refill();

  auto const variant = contestant.make(o.team);
  std::vector<std::int16_t> wrote_in(static_cast<std::size_t>(o.grid.k) *
                                     static_cast<std::size_t>(all.report ? all.steps : 0));
  std::size_t const bytes = problem.elements() * sizeof(double);
  NIGH_METER_RANGE(0, problem.first(), bytes);
  NIGH_METER_RANGE(1, problem.second(), bytes);
  NIGH_METER_START();
  double const seconds =
      problem.run(*variant, o.kernel, all.steps, false, all.report ? wrote_in.data() : nullptr);
  NIGH_METER_STOP(1);
  bool const verified = problem.checksum() == expected;

  double const updates = static_cast<double>(o.grid.sites()) * all.steps;
  fmt::print("variant {}\ninit {}\nthreads {}\ngrid {}x{}x{}\nsteps {}\nwidth {}\n",
             contestant.name, to_string(o.init), o.team.threads(), o.grid.i, o.grid.j, o.grid.k,
             all.steps, width);
  fmt::print("rate {:.1f} MLUP/s\nverified {}\n", updates / seconds / 1e6, verified ? "yes" : "no");
  if (all.report)
    print_report(problem, count_tiles(problem, width, all.steps, o.machine, wrote_in));
  if (!verified) throw std::runtime_error("the field differs from the serial reference");
}

}  // namespace bench
