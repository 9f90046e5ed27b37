// SPDX-License-Identifier: Apache-2.0
// nigh sim table1: tasks with and without locality queues, on the machine of the paper on them.

#include "sim/jacobi/table1.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output_file.hpp"
#include "cli/plot.hpp"
#include "cli/sim/result_lines.hpp"
#include "cli/sim/sim.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {
namespace {

constexpr char const* figure = "sim_table1";  // its script

struct Table1Flags {
  std::string machine = "opteron-4x2", json, plot;
  std::uint64_t seed = 1;
  int seeds = 5;
};

struct Simulated {
  sim::Table1Cell cell;
  std::vector<double> mlups;  // one a seed

  double error() const { return tune::median(mlups) / cell.published - 1; }
};

using Table = std::vector<Simulated>;

Table simulate(sim::Machine const& machine, Table1Flags const& f) {
  Table table;
  for (auto const& cell : sim::table1) {
    table.push_back({cell, {}});
    for (int s = 0; s < f.seeds; ++s)
      table.back().mlups.push_back(
          sim::jacobi_mlups(machine, cell.what, f.seed + static_cast<std::uint64_t>(s)));
  }
  return table;
}

std::string describe(Table const& table, sim::Machine const& machine, int seeds) {
  std::string text = fmt::format(
      "{}\nMLUP/s of a Jacobi sweep over 600^3 sites in 3600 tasks; medians of {} seeds\n\n"
      "{:10}{:8}{:8}{:>11}{:>11}{:>9}\n",
      machine.title, seeds, "pages", "order", "tasks", "published", "simulated", "error");
  double squares = 0, worst = 0;
  for (auto const& s : table) {
    auto const& w = s.cell.what;
    text += fmt::format("{:10}{:8}{:8}{:>11.1f}{:>11.1f}{:>+8.1f}%\n",
                        w.round_robin ? "static,1" : "static", w.j_outermost ? "jki" : "kji",
                        w.queues ? "queues" : "plain", s.cell.published, tune::median(s.mlups),
                        100 * s.error());
    squares += s.error() * s.error();
    worst = std::max(worst, std::abs(s.error()));
  }
  return text + fmt::format("\nlargest error {:.1f}%, rms {:.1f}%\n", 100 * worst,
                            100 * std::sqrt(squares / static_cast<double>(table.size())));
}

std::string result_lines(Table const& table, sim::Machine const& machine, Table1Flags const& f) {
  std::string text;
  for (auto const& s : table) {
    auto const& w = s.cell.what;
    SimResult r;
    r.bench = "sim/table1";
    r.variant = w.queues ? "queues" : "tasks";
    r.params = {{"seed", static_cast<long>(f.seed)}};
    r.settings = {{"machine", machine.name},
                  {"init", w.round_robin ? "static,1" : "static"},
                  {"order", w.j_outermost ? "jki" : "kji"}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = s.mlups;
    r.counters = {{"published", s.cell.published}, {"error", s.error()}};
    text += json_line(r, machine);
  }
  return text;
}

void run(Table1Flags const& f) {
  if (!f.json.empty()) check_output(f.json);
  if (!f.plot.empty()) check_figure("--plot", f.plot, figure);
  auto const machine = machine_for("--machine", f.machine);
  auto const table = simulate(machine, f);
  auto const text = describe(table, machine, f.seeds);
  auto const lines = result_lines(table, machine, f);
  if (f.json == "-")
    std::fputs(text.c_str(), stderr);
  else
    write_output("-", text);
  if (!f.json.empty()) write_output(f.json, lines);
  if (!f.plot.empty()) draw_figure(f.plot, figure, lines);
}

}  // namespace

void add_sim_table1(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "table1", "Tasks and locality queues: Table 1 of the paper on them, eight cells");
  auto const f = std::make_shared<Table1Flags>();
  command->add_option("--machine", f->machine, "A machine, or a file of one (opteron-4x2)")
      ->type_name("NAME");
  command->add_option("--seeds", f->seeds, "How often, each time with another seed (5)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--seed", f->seed, "The first one (1)")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--json", f->json, "Each result as a JSON line; - for standard output")
      ->type_name("FILE");
  command->add_option("--plot", f->plot, "Draw a figure, .svg or .png")->type_name("FILE");
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
