// SPDX-License-Identifier: Apache-2.0
// Figures, drawn by the Python scripts in bench/plots (matplotlib) from result lines.

#include "bench/benchmark.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/options.hpp"
#include "bench/results.hpp"
#include "platform/figure.hpp"
#include "platform/program.hpp"
#include "platform/progress.hpp"

namespace bench {
namespace {

// Beside the driver, wherever it was installed.
std::filesystem::path script_path(std::string const& name) {
  return nigh::platform::this_program().parent_path() / "plots" / (name + ".py");
}

// UsageError naming the argument when there can be no figure. An empty name: none is wanted.
void check_figure(std::string const& argument, std::string const& file, std::string const& script) {
  if (file.empty()) return;
  check_writable(argument, file);  // sooner told than whether a Python can draw
  if (auto const why = nigh::platform::why_no_figure(file, script_path(script)); !why.empty())
    throw UsageError(argument + ": " + why);
}

void declare(Benchmark const& b, Flags& flags, CLI::App& app) {
  b.options(app);
  app.add_option("--reps,--repetitions", flags.repetitions, "samples of " + b.samples)
      ->type_name("N");
  app.add_flag("--quick", flags.quick, b.quick + ": does it work?");
  app.add_option("--json", flags.json,
                 "write results as JSON lines to this file, - for standard output")
      ->type_name("FILE");
  app.add_option("--plot", flags.plot, "draw the results, .svg or .png")->type_name("FILE");
  if (b.list) app.add_flag("--list", flags.list, "name what can be asked for and leave");
}

void measure(Benchmark const& b, Flags const& flags) {
  if (flags.list) return b.list();
  Plan const plan = b.plan();
  if (plan.instead) return plan.instead();
  // Where a file cannot be written, this says so before anything is measured.
  check_figure("--plot", flags.plot, b.name);
  ResultFile json("--json", flags.json);
  RunRecord const record = record_run(*plan.machine);
  std::FILE* const tables = flags.json == "-" ? stderr : stdout;
  std::string lines;
  bool verified = true;
  auto const parts = static_cast<int>(plan.parts.size());
  nigh::platform::Progress progress(parts > 1 ? parts : 0);  // where a part shows none itself
  for (auto const& part : plan.parts) {
    progress.step(b.name);
    Findings const found = part();
    nigh::platform::Progress::make_way();
    fmt::print(tables, "{}", found.text);
    for (Result const& r : found.results) {
      std::string const line = json_line(r, record);
      json.write(line);
      lines += line + '\n';
      verified = verified && r.verified.value_or(true);
    }
  }
  json.finish();
  if (!flags.plot.empty()) {
    auto const drawn = nigh::platform::draw_figure(flags.plot, script_path(b.name), lines);
    if (!drawn) throw std::runtime_error(drawn.message());
  }
  if (!verified) throw std::runtime_error(b.wrong);
}

}  // namespace

int run_benchmark(Benchmark const& b, Flags& flags, int argc, char** argv) {
  if (b.process == Benchmark::Process::deep_tasks) allow_deep_stacks();
  if (b.process != Benchmark::Process::plain) restart_with_openmp_settings(argv);
  return run_program(
      "nigh bench " + b.name, b.measures, argc, argv,
      [&](CLI::App& app) { declare(b, flags, app); }, [&] { measure(b, flags); });
}

}  // namespace bench
