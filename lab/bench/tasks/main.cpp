// SPDX-License-Identifier: Apache-2.0
// nigh bench tasks: problems of recursive tasks under every runtime, and what an empty task costs.
#include "bench/command.hpp"
#include "bench/report.hpp"
#include "bench/tasks/characteristics.hpp"
#include "bench/tasks/empty_tasks.hpp"
#include "bench/tasks/fib_detail.hpp"
#include "bench/tasks/latency.hpp"
#include "bench/tasks/matrix.hpp"
#include "bench/tasks/options.hpp"
#include "bench/tasks/oversubscribed.hpp"

namespace {

using namespace bench;

void run(TasksFlags const& flags) {
  TasksOptions const options = check(flags);
  Report report(flags.json, flags.plot, options.machine);
  auto const show = [&](std::string const& table) { report.print(table + '\n'); };
  auto const keep = [&](std::vector<Result> const& results) { report.keep(results); };

  if (flags.fib) {
    std::vector<Result> const fib = measure_fib(options);
    show(describe_fib(fib, options));
    keep(fib);
  }
  if (flags.latency) {
    std::vector<Result> const latency = measure_latency(options);
    show(describe_latency(latency));
    keep(latency);
  }
  if (flags.oversubscribed) {
    std::vector<Result> const crowded = measure_oversubscribed(options);
    show(describe_oversubscribed(crowded, options));
    keep(crowded);
  }
  if (!flags.fib && !flags.latency && !flags.oversubscribed) {
    if (flags.problems.empty()) {
      std::vector<Result> const empty = measure_empty_tasks(options);
      show(describe_empty_tasks(empty, options));
      keep(empty);
    }
    std::vector<Row> const rows = measure_matrix(options);
    show(describe(rows, options));
    keep(results(rows));
    std::vector<Characteristics> const seen = measure_characteristics(rows, options);
    show(describe(seen, options));
    keep(results(seen, options));
  }

  report.finish("tasks", "an answer differs from the expected one");
}

}  // namespace

int main(int argc, char** argv) {
  allow_deep_stacks();
  restart_with_openmp_settings(argv);
  TasksFlags flags;
  return run_command(
      "tasks", "problems of recursive tasks under every runtime, and what an empty task costs",
      argc, argv, [&](CLI::App& app) { flags.declare(app); }, [&] { run(flags); });
}
