// SPDX-License-Identifier: Apache-2.0
// nigh bench loops: parallel loops of nigh beside those of OpenMP, oneTBB and ForkUnion.
#include <fmt/core.h>

#include "bench/command.hpp"
#include "bench/loops/compare.hpp"
#include "bench/loops/options.hpp"
#include "bench/plot.hpp"
#include "bench/results.hpp"

namespace {

using namespace bench;

void run(LoopsFlags const& flags) {
  LoopsOptions const options = check(flags);
  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(options.machine);
  std::vector<Result> const results = compare_loops(options);
  fmt::print(flags.json == "-" ? stderr : stdout, "{}", describe_loops(results, options));
  for (Result const& r : results) {
    json.write(json_line(r, record));
    plot.add(json_line(r, record));
  }
  json.finish();
  plot.draw("loops");
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_openmp_settings(argv);
  LoopsFlags flags;
  return run_command(
      "loops", "parallel loops: how soon they begin, how fast they run, how even they are", argc,
      argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
