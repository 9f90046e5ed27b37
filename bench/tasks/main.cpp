// SPDX-License-Identifier: Apache-2.0
// nigh bench tasks: problems of recursive tasks under every runtime, and what an empty task costs.
#include <fmt/core.h>

#include <stdexcept>

#include "bench/command.hpp"
#include "bench/plot.hpp"
#include "bench/results.hpp"
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
  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(options.machine);
  std::FILE* const tables = flags.json == "-" ? stderr : stdout;
  bool verified = true;
  auto const keep = [&](std::vector<Result> const& results) {
    for (Result const& r : results) {
      json.write(json_line(r, record));
      plot.add(json_line(r, record));
      verified = verified && r.verified.value_or(true);
    }
  };

  auto const show = [&](std::string const& table) { fmt::print(tables, "{}\n", table); };

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

  json.finish();
  plot.draw("tasks");
  if (!verified) throw std::runtime_error("an answer differs from the expected one");
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
