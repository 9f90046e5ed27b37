// SPDX-License-Identifier: Apache-2.0
// nigh bench loops: parallel loops of nigh beside those of OpenMP, oneTBB and ForkUnion.
#include "bench/command.hpp"
#include "bench/loops/compare.hpp"
#include "bench/loops/options.hpp"
#include "bench/report.hpp"

namespace {

using namespace bench;

void run(LoopsFlags const& flags) {
  LoopsOptions const options = check(flags);
  Report report(flags.json, flags.plot, options.machine);
  std::vector<Result> const results = compare_loops(options);
  report.print(describe_loops(results, options));
  report.keep(results);
  report.finish("loops", "a loop's result is wrong");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  LoopsFlags flags;
  return run_command(
      "loops", "parallel loops: how soon they begin, how fast they run, how even they are", argc,
      argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
