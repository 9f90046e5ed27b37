// SPDX-License-Identifier: Apache-2.0
// nigh bench jacobi3d: the paper's 3D six-point Jacobi solver under every schedule it compares.
#include "bench/command.hpp"
#include "bench/jacobi3d/block_study.hpp"
#include "bench/jacobi3d/compare.hpp"
#include "bench/jacobi3d/single.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"

namespace {

using namespace bench;

void run(JacobiFlags const& flags) {
  if (flags.list) return list_variants(jacobi3d::variants());
  auto const options = check(flags);
  if (options->variant != nullptr) return run_single(*options, flags.report);

  Report report(flags.json, flags.plot, options->machine);
  auto const present = [&](auto const& study) {
    report.print(describe(study, *options));
    report.keep(results(study, *options));
  };
  if (flags.block_study)
    present(study_blocks(*options));
  else
    present(compare(*options));
  report.finish("jacobi3d", "a field differs from the serial reference");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  JacobiFlags flags;
  return run_command(
      "jacobi3d", "3D six-point Jacobi solver under every schedule of Wittmann and Hager (2009)",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
