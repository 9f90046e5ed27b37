// SPDX-License-Identifier: Apache-2.0
// nigh sim scale: work stealing from a thousand cores to a million, and which constant is in its
// way.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "platform/process_usage.hpp"
#include "sim/commands/in_parallel.hpp"
#include "sim/commands/sim.hpp"
#include "sim/steal/studies.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {

namespace {

struct ScaleFlags {
  std::string machine = "cluster-4096", tree = "T1";
  std::vector<int> cores{1000, 10'000};
  std::vector<std::string> only;
  double node_us = 100;
  SimSeeds random{1, 1};
  SimOutput output{"sim_scale", {}, {}};
};

struct ScaleCell {
  sim::ScaleWay way;
  sim::StealMachine machine;
  std::vector<sim::StealOutcome> runs;  // one a seed
};

struct ScaleStudy {
  sim::TaskForest forest;
  std::vector<sim::ScaleWay> ways;
  std::vector<int> cores;  // in whole hosts
  std::vector<ScaleCell> cells;

  double efficiency(ScaleCell const& c) const {
    std::vector<double> all;
    for (auto const& run : c.runs) all.push_back(sim::efficiency(forest, c.machine, run));
    return tune::median(all);
  }
  ScaleCell const& cell(std::string const& way, int on) const {
    return *std::find_if(cells.begin(), cells.end(), [&](ScaleCell const& c) {
      return c.way.name == way && c.machine.workers() == on;
    });
  }
};

std::string describe(ScaleStudy const& s, sim::Machine const& machine, ScaleFlags const& f) {
  auto text = fmt::format(
      "{}\n{}: {} tasks of {} us; percent of the cores' time in tasks, medians of {} "
      "seeds\n\n{:26}",
      machine.title, f.tree, s.forest.tasks(), f.node_us, f.random.seeds, "cores");
  for (int n : s.cores) text += fmt::format("{:>10}", n);
  for (auto const& way : s.ways) {
    text += fmt::format("\n{:26}", way.name);
    for (int n : s.cores) text += fmt::format("{:>10.1f}", 100 * s.efficiency(s.cell(way.name, n)));
  }
  text += fmt::format("\n\n{:26}", "tasks a core");
  for (int n : s.cores) text += fmt::format("{:>10.1f}", static_cast<double>(s.forest.tasks()) / n);
  return text + '\n';
}

std::string result_lines(ScaleStudy const& s, sim::Machine const& machine, ScaleFlags const& f) {
  std::string text;
  for (auto const& c : s.cells) {
    SimResult r;
    r.bench = "sim/scale";
    r.variant = c.way.name;
    r.params = {{"cores", c.machine.workers()},
                {"seed", static_cast<long>(f.random.seed)},
                {"node_ns", static_cast<long>(s.forest.each_ns)}};
    r.settings = {{"machine", machine.name}, {"problem", f.tree}};
    r.metric = "time";
    r.unit = "ms";
    for (auto const& run : c.runs) r.samples.push_back(run.seconds_of_all() * 1e3);
    auto const& first = c.runs.front();
    r.counters = {{"efficiency", s.efficiency(c)},
                  {"tasks", static_cast<double>(first.tasks)},
                  {"steals", static_cast<double>(first.steals)},
                  {"probes", static_cast<double>(first.probes)},
                  {"events", static_cast<double>(first.events)}};
    text += json_line(r, machine);
  }
  return text;
}

ScaleStudy simulate(sim::Machine const& machine, ScaleFlags const& f) {
  ScaleStudy s{sim::paper_tasks(f.tree), {}, {}, {}};
  for (auto const& way : sim::scale_ways())
    if (f.only.empty() || std::find(f.only.begin(), f.only.end(), way.name) != f.only.end())
      s.ways.push_back(way);
  s.forest.each_ns = static_cast<sim::Time>(f.node_us * 1e3);
  for (int n : f.cores) {
    auto const found = sim::steal_machine(machine, n);
    if (!found) throw UsageError("--machine: " + found.message());
    s.cores.push_back(found->workers());
    for (auto const& way : s.ways)
      s.cells.push_back({way, sim::with_attempts(*found, way.most_attempts), {}});
  }
  for (auto& c : s.cells) c.runs.resize(static_cast<std::size_t>(f.random.seeds));
  auto const seeds = static_cast<std::size_t>(f.random.seeds);
  std::vector<std::string> errors(s.cells.size() * seeds);
  in_parallel(errors.size(), [&](std::size_t j) {
    auto& c = s.cells[j / seeds];
    auto all = sim::StealRun(s.forest, c.machine, c.way.rules, f.random.seed + j % seeds).run();
    if (all)
      c.runs[j % seeds] = std::move(all).value();
    else
      errors[j] = all.message();
  });
  for (auto const& e : errors)
    if (!e.empty()) throw std::runtime_error("sim: " + e);
  return s;
}

void study(ScaleFlags const& f) {
  f.output.check();
  auto const machine = machine_for("--machine", f.machine);
  auto const s = simulate(machine, f);
  auto const text = describe(s, machine, f);
  auto const lines = result_lines(s, machine, f);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_scale(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "scale", "Work stealing from a thousand cores to a million, by policy and constant");
  auto const f = std::make_shared<ScaleFlags>();
  add_machine(*command, f->machine);
  command->add_option("--cores", f->cores, "How many, in whole hosts (1000,10000)")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 24));
  std::vector<std::string> names;
  for (auto const& way : sim::scale_ways()) names.push_back(way.name);
  command->add_option("--only", f->only, "Of random+half, hvs+hcs, hvs+hcs/16, ... these")
      ->type_name("WAY,...")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  add_tree(*command, f->tree);
  command->add_option("--node-us", f->node_us, "What a node takes (100)")
      ->type_name("US")
      ->check(CLI::Range(0.001, 1e6))
      ->check(not_nan());
  f->random.add_to(*command);
  f->output.add_to(*command);
  command->callback([f] { study(*f); });
}

namespace {

// nigh sim speed: how many events a second the simulator itself gets through, and the memory it
// takes. Measured, so that no two runs print the same.

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
