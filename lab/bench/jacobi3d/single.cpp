// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi3d/single.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nigh/locality_mark.h>

#include "bench/jacobi3d/problem.hpp"

namespace bench {

namespace {

// One fact a line, first word its name: easy to read for people and for scripts.
void print_report(Problem const& problem, BlockCounts const& blocks) {
  nigh::page_report const pages = problem.pages();
  fmt::print("pages_of_domain {}\n", fmt::join(pages.pages_of_domain, " "));
  fmt::print("pages_untouched {}\n", pages.untouched);
  if (!pages.note.empty()) fmt::print("pages_note {}\n", pages.note);
  fmt::print("blocks_local {}\nblocks_remote {}\nblocks_unknown {}\n", blocks.local, blocks.remote,
             blocks.unknown);
  fmt::print("remote_share {:.4f}\n", blocks.remote_share());
}

}  // namespace

void run_single(JacobiOptions const& o, bool report) {
  Crew crew(o.team.cpus);
  Problem problem(o, o.init, crew);
  problem.submit_in(o.order);
  problem.run_reference(o.sweeps);
  auto const expected = problem.checksum();
  problem.refill();

  auto const variant = o.variant->make(o.team);
  std::size_t const bytes = problem.elements() * sizeof(double);
  NIGH_METER_RANGE(0, problem.first(), bytes);
  NIGH_METER_RANGE(1, problem.second(), bytes);
  NIGH_METER_START();
  double const seconds = problem.run(*variant, o.kernel, o.sweeps);
  NIGH_METER_STOP(1);
  bool const verified = problem.checksum() == expected;

  double const updates = static_cast<double>(o.grid.sites()) * o.sweeps;
  fmt::print("variant {}\ninit {}\norder {}\nthreads {}\n", o.variant->name, to_string(o.init),
             to_string(o.order), o.team.threads());
  fmt::print("grid {}x{}x{}\nblock {}x{}x{}\nkernel {} {}\nsweeps {}\n", o.grid.i, o.grid.j,
             o.grid.k, o.block.i, o.block.j, o.block.k, o.kernel.isa,
             o.kernel.streaming ? "streaming" : "plain", o.sweeps);
  fmt::print("rate {:.1f} MLUP/s\nverified {}\n", updates / seconds / 1e6, verified ? "yes" : "no");
  if (report) print_report(problem, problem.blocks_run());
  if (!verified) throw std::runtime_error("the field differs from the serial reference");
}

}  // namespace bench
