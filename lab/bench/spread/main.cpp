// SPDX-License-Identifier: Apache-2.0
// nigh bench spread: how many threads on one block, how many blocks.
#include "bench/command.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"
#include "bench/spread/programs.hpp"
#include "bench/spread/study.hpp"

namespace {

using namespace bench;

void run(SpreadFlags const& flags) {
  if (flags.list) return list_variants(jacobi2d::variants());
  SpreadOptions const options = check(flags);
  Report report(flags.json, flags.plot, options.machine);
  SpreadStudy const all = study(options);
  report.print(describe(all, options));
  report.keep(results(all, options));
  ProgramStudy const programs = study_programs(options);
  report.print(describe(programs, options));
  report.keep(results(programs, options));
  report.finish("spread", "a field is not the serial one's");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  SpreadFlags flags;
  return run_command(
      "spread", "a stencil on a grid of blocks: how many threads on one block, how many blocks",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
