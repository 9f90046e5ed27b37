// SPDX-License-Identifier: Apache-2.0
// nigh bench mg: the multigrid benchmark under every runtime, binding and memory policy.
#include "bench/command.hpp"
#include "bench/mg/study.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"

namespace {

using namespace bench;

void run(MgFlags const& flags) {
  if (flags.list) return list_variants(npb_mg::variants());
  MgOptions const options = check(flags);
  Report report(flags.json, flags.plot, options.machine);
  MgStudy const all = study(options);
  report.print(describe(all, options));
  report.keep(results(all, options));
  report.finish("mg", "a norm is not the published one");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  MgFlags flags;
  return run_command(
      "mg", "NPB multigrid under every runtime, thread binding and memory policy", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
