// SPDX-License-Identifier: Apache-2.0
// nigh bench temporal: a stencil's time steps in tiles that stay in a cache.
#include "bench/command.hpp"
#include "bench/report.hpp"
#include "bench/temporal/problems.hpp"
#include "bench/temporal/single.hpp"
#include "bench/temporal/study.hpp"

namespace {

using namespace bench;

void run(TemporalFlags const& flags) {
  TemporalOptions const options = check(flags);
  if (!options.variant.empty()) return run_single(options);
  Report report(flags.json, flags.plot, options.solver->machine);
  auto const present = [&](auto const& measured) {
    report.print(describe(measured, options));
    report.keep(results(measured, options));
  };
  if (flags.problems)
    present(study_problems(options));
  else
    present(study(options));
  report.finish("temporal", "a field differs from that of plain sweeps");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  TemporalFlags flags;
  return run_command(
      "temporal", "a stencil's time steps in tiles that stay in a cache: beyond the bandwidth limit",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
