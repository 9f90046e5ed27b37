// SPDX-License-Identifier: Apache-2.0
// nigh bench cluster: problems on many ranks, by whom ranks ask for tasks and for how many, and
// what one steal takes.
#include "bench/cluster/latencies.hpp"
#include "bench/cluster/study.hpp"
#include "bench/command.hpp"
#include "bench/report.hpp"

namespace {

using namespace bench;

void run(ClusterFlags const& flags) {
  if (flags.list) return list_cluster_problems();
  ClusterOptions const options = check(flags);
  Report report(flags.json, flags.plot, options.machine);
  ClusterStudy const all = study(options);
  report.print(describe(all, options));
  report.keep(results(all, options));
  LatencyStudy const latencies = study_latencies(options);
  report.print(describe(latencies, options));
  report.keep(results(latencies, options));
  report.finish("cluster", "an answer is not the one of one rank");
}

}  // namespace

int main(int argc, char** argv) {
  ClusterFlags flags;
  return run_command(
      "cluster", "problems on many ranks, by whom ranks ask for tasks and for how many", argc, argv,
      [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
