// SPDX-License-Identifier: Apache-2.0
#include "bench/benchmark.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "bench/command.hpp"
#include "bench/plot.hpp"

namespace bench {

namespace {

void declare(Benchmark const& b, Flags& flags, CLI::App& app) {
  b.options(app);
  app.add_option("--reps,--repetitions", flags.repetitions, "samples of " + b.samples);
  app.add_flag("--quick", flags.quick, b.quick + ": does it work?");
  app.add_option("--json", flags.json,
                 "write results as JSON lines to this file, - for standard output");
  app.add_option("--plot", flags.plot, "draw the results, FILE.svg or FILE.png");
  if (b.list) app.add_flag("--list", flags.list, "name what can be asked for and leave");
}

void measure(Benchmark const& b, Flags const& flags) {
  if (flags.list) return b.list();
  Plan const plan = b.plan();
  if (plan.instead) return plan.instead();
  // Where a file cannot be written, this says so before anything is measured.
  Plot plot("--plot", flags.plot);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(*plan.machine);
  std::FILE* const tables = flags.json == "-" ? stderr : stdout;
  bool verified = true;
  for (auto const& part : plan.parts) {
    Findings const found = part();
    fmt::print(tables, "{}", found.text);
    for (Result const& r : found.results) {
      std::string line = json_line(r, record);
      json.write(line);
      plot.add(std::move(line));
      verified = verified && r.verified.value_or(true);
    }
  }
  json.finish();
  plot.draw(b.name);
  if (!verified) throw std::runtime_error(b.wrong);
}

}  // namespace

int run_benchmark(Benchmark const& b, Flags& flags, int argc, char** argv) {
  if (b.process == Benchmark::Process::deep_tasks) allow_deep_stacks();
  if (b.process != Benchmark::Process::plain) restart_with_openmp_settings(argv);
  return run_command(
      b.name, b.measures, argc, argv, [&](CLI::App& app) { declare(b, flags, app); },
      [&] { measure(b, flags); });
}

}  // namespace bench
