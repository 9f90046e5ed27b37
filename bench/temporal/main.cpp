// SPDX-License-Identifier: Apache-2.0
// nigh bench temporal: a stencil's time steps in tiles that stay in a cache.
#include "bench/command.hpp"
#include "bench/report.hpp"
#include "bench/temporal/study.hpp"

namespace {

using namespace bench;

void run(TemporalFlags const& flags) {
  TemporalOptions const options = check(flags);
  Report report(flags.json, flags.plot, options.solver->machine);
  TemporalStudy const all = study(options);
  report.print(describe(all, options));
  report.keep(results(all, options));
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
