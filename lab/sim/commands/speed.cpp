// SPDX-License-Identifier: Apache-2.0
// nigh sim speed: how many events a second the simulator itself gets through, and the memory it
// takes. Measured, so that no two runs print the same.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "platform/process_usage.hpp"
#include "sim/commands/options.hpp"
#include "sim/commands/result_lines.hpp"
#include "sim/commands/sim.hpp"
#include "sim/steal/scale.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {
namespace {

struct SpeedFlags {
  std::string machine = "cluster-4096", tree = "T1";
  std::vector<int> cores{256, 4096};
  int repeat = 3;
  SimOutput output;
};

struct SpeedCell {
  int cores = 0;
  std::vector<double> seconds;
  sim::StealOutcome outcome;
  double peak_mib = 0;  // of the process, up to here
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<double> rates(SpeedCell const& c) {  // million events a second
  std::vector<double> all;
  for (double s : c.seconds) all.push_back(static_cast<double>(c.outcome.events) / s * 1e-6);
  return all;
}

SpeedCell measure(sim::TaskForest const& forest, sim::StealMachine const& machine, int repeat) {
  SpeedCell cell{machine.workers(), {}, {}, 0};
  auto const rules = sim::scale_ways().front().rules;
  for (int r = 0; r < repeat; ++r) {
    auto const begin = std::chrono::steady_clock::now();
    auto outcome = sim::StealRun(forest, machine, rules, 1).run();
    if (!outcome) throw std::runtime_error("sim: " + outcome.message());
    cell.seconds.push_back(seconds_since(begin));
    cell.outcome = std::move(outcome).value();
  }
  cell.peak_mib = static_cast<double>(platform::most_bytes_resident()) / 0x1p20;
  return cell;
}

std::string result_line(SpeedCell const& c, SpeedFlags const& f, double unfold_s,
                        sim::Machine const& machine) {
  SimResult r;
  r.bench = "sim/speed";
  r.variant = "random+half";
  r.params = {{"cores", c.cores}};
  r.settings = {{"machine", machine.name}, {"problem", f.tree}};
  r.metric = "rate";
  r.unit = "million events/s";
  r.samples = rates(c);
  r.counters = {{"events", static_cast<double>(c.outcome.events)},
                {"tasks", static_cast<double>(c.outcome.tasks)},
                {"seconds", tune::median(c.seconds)},
                {"unfold_s", unfold_s},
                {"peak_mib", c.peak_mib}};
  return json_line(r, machine);
}

void measure_all(SpeedFlags const& f) {
  f.output.check();
  auto const machine = machine_for("--machine", f.machine);
  auto const begin = std::chrono::steady_clock::now();
  auto const forest = sim::paper_tasks(f.tree);
  double const unfold_s = seconds_since(begin);
  auto text = fmt::format(
      "{}: {} tasks, unfolded in {:.1f} s; one thread, medians of {}\n\n"
      "{:>9}{:>12}{:>10}{:>14}{:>13}\n",
      f.tree, forest.tasks(), unfold_s, f.repeat, "cores", "events", "seconds", "M events/s",
      "MiB at most");
  std::string lines;
  for (int cores : f.cores) {
    auto const thieves = sim::steal_machine(machine, cores);
    if (!thieves) throw UsageError("--machine: " + thieves.message());
    auto const cell = measure(forest, *thieves, f.repeat);
    text += fmt::format("{:>9}{:>12}{:>10.2f}{:>14.2f}{:>13.0f}\n", cell.cores, cell.outcome.events,
                        tune::median(cell.seconds), tune::median(rates(cell)), cell.peak_mib);
    lines += result_line(cell, f, unfold_s, machine);
  }
  f.output.write(text, lines);
}

}  // namespace

void add_sim_speed(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "speed", "How fast the simulator itself is: events a second, and memory, by cores");
  auto const f = std::make_shared<SpeedFlags>();
  add_machine(*command, f->machine);
  command->add_option("--cores", f->cores, "How many, in whole hosts (256,4096)")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 24));
  add_tree(*command, f->tree);
  command->add_option("--repeat", f->repeat, "How often (3)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  f->output.add_to(*command);
  command->callback([f] { measure_all(*f); });
}

}  // namespace nigh::cli
