// SPDX-License-Identifier: Apache-2.0
// The output of nigh sim mg: text and JSON lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"
#include "sim/machine.hpp"
#include "sim/mg/study.hpp"

namespace nigh::cli {

namespace {

struct MgRuns {
  sim::Machine machine;
  sim::MgClass size{};
  std::uint64_t seed = 1;
  sim::MgStudy study;
  std::vector<sim::MgStatement> statements;  // of a machine with two sockets
};

// Simulated multigrid as tables for people, what the text states beside them, and as lines for
// scripts.

using sim::MgCurve;

std::string row_name(MgCurve const& c) {
  return fmt::format("{:17}{:9}{:15}", sim::name_of(c.what), sim::name_of(c.what.order),
                     sim::name_of(c.what.pages));
}

// At most eight counts of threads, the last among them.
std::vector<std::size_t> shown(std::vector<int> const& threads) {
  std::vector<std::size_t> counts;
  auto const step = (threads.size() + 7) / 8;
  for (std::size_t i = threads.size(); i > 0; i = i > step ? i - step : 0)
    counts.insert(counts.begin(), i - 1);
  return counts;
}

std::string speedups_text(MgRuns const& r) {
  auto const counts = shown(r.study.threads);
  std::string text = fmt::format("{:41}speedup with so many threads\n{:41}", "", "");
  for (auto const i : counts) text += fmt::format("{:>6}", r.study.threads[i]);
  text += fmt::format("{:>7}\n", "mean");
  for (auto const& c : r.study.curves) {
    text += row_name(c);
    for (auto const i : counts) text += fmt::format("{:>6.1f}", r.study.speedup(c, i));
    text += fmt::format("{:>7.1f}\n", r.study.mean_speedup(c));
  }
  return text + '\n';
}

std::string loads_text(MgRuns const& r) {
  std::string text =
      fmt::format("{:41}with {} threads\n{:41}{:>8}{:>7}{:>8}  {}\n", "", r.study.threads.back(),
                  "", "seconds", "GB/s", "missed", "each domain's part of the traffic, %");
  for (auto const& c : r.study.curves) {
    auto const& o = c.outcomes.back();
    text += fmt::format("{}{:>8.2f}{:>7.0f}{:>7.0f}% ", row_name(c), c.seconds.back(),
                        o.gb / o.iteration_s, 100 * o.missed);
    for (double const part : o.load) text += fmt::format("{:>4.0f}", 100 * part);
    text += '\n';
  }
  return text;
}

std::string statements_text(MgRuns const& r) {
  if (r.statements.empty()) return {};
  std::string text = fmt::format("\n{:66}simulated\n", "published");
  int held = 0;
  for (auto const& s : r.statements) {
    text += fmt::format("{:66}{}: {}\n", s.text, s.holds ? "holds" : "FAILS", s.simulated);
    held += s.holds;
  }
  return text + fmt::format("{} of {} statements hold\n", held, r.statements.size());
}

std::string describe(MgRuns const& r) {
  return fmt::format("{}\nNPB MG, class {}, {} iterations; seed {}\n\n", r.machine.title,
                     r.size.name, r.size.iterations, r.seed) +
         speedups_text(r) + loads_text(r) + statements_text(r);
}

std::string result_lines(MgRuns const& runs) {
  std::string text;
  for (auto const& c : runs.study.curves)
    for (std::size_t i = 0; i < runs.study.threads.size(); ++i) {
      auto const& o = c.outcomes[i];
      SimResult r;
      r.bench = "sim/mg";
      r.variant = sim::name_of(c.what);
      r.params = {{"seed", static_cast<long>(runs.seed)}, {"threads", runs.study.threads[i]}};
      r.settings = {{"machine", runs.machine.name},
                    {"class", std::string(1, runs.size.name)},
                    {"order", std::string(sim::name_of(c.what.order))},
                    {"pages", std::string(sim::name_of(c.what.pages))}};
      r.metric = "time";
      r.unit = "s";
      r.samples = {c.seconds[i]};
      r.counters = {{"speedup", runs.study.speedup(c, i)},
                    {"gb_per_s", o.gb / o.iteration_s},
                    {"missed", o.missed}};
      for (std::size_t d = 0; d < o.load.size(); ++d) {
        r.counters["load_" + std::to_string(d)] = o.load[d];
        r.counters["resident_" + std::to_string(d)] = o.resident[d];
      }
      text += json_line(r, runs.machine);
    }
  for (auto const& s : runs.statements) {
    SimResult r;
    r.bench = "sim/mg/statement";
    r.variant = s.text;
    r.params = {{"seed", static_cast<long>(runs.seed)}};
    r.settings = {{"machine", runs.machine.name},
                  {"class", std::string(1, runs.size.name)},
                  {"simulated", s.simulated}};
    r.metric = "holds";
    r.unit = "truth";
    r.samples = {s.holds ? 1.0 : 0.0};
    text += json_line(r, runs.machine);
  }
  return text;
}

// nigh sim mg: NPB's multigrid on two sockets, its threads, pages and loops in several ways.

sim::MgClass const* class_named(std::string const& name) {
  auto const found = std::find_if(sim::mg_classes.begin(), sim::mg_classes.end(),
                                  [&](auto const& c) { return name == std::string(1, c.name); });
  return found == sim::mg_classes.end() ? nullptr : &*found;
}

struct MgFlags {
  std::vector<std::string> machines{"skylake-2x12", "xeon-e5-2630-2x8"};
  std::string problem = "C";
  std::vector<int> threads;
  std::uint64_t seed = 1;
  double far_touch = sim::MgCase{}.far_touch;
  bool no_caches = false;
  std::string first_thread = "u";
  SimOutput output{"sim_mg", {}, {}};
};

std::vector<sim::MgCase> cases_on(sim::Machine const& machine, MgFlags const& f) {
  auto const& names = sim::first_thread_names;
  auto const touches = static_cast<sim::FirstThread>(
      std::find(names.begin(), names.end(), f.first_thread) - names.begin());
  auto cases = sim::mg_cases(machine, *class_named(f.problem));
  for (auto& one : cases) {
    one.far_touch = f.far_touch;
    one.caches = !f.no_caches;
    one.first_thread = touches;
  }
  return cases;
}

// Sorted, with 1 first: speedups are beside it.
std::vector<int> thread_counts(MgFlags const& f, sim::Machine const& machine) {
  if (f.threads.empty()) return sim::mg_thread_counts(machine);
  auto counts = f.threads;
  counts.push_back(1);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  auto const cpus = static_cast<int>(machine.shape.cpus().size());
  if (counts.back() > cpus)
    throw UsageError("--threads: " + std::to_string(counts.back()) + " threads, and " +
                     machine.name + " has " + std::to_string(cpus) + " cpus");
  return counts;
}

// Statements are about class C on one full socket and on two.
bool can_tell(MgRuns const& runs) {
  auto const sockets = runs.machine.shape.groups(level::package);
  auto const& counts = runs.study.threads;
  auto const has = [&](std::size_t n) {
    return std::find(counts.begin(), counts.end(), static_cast<int>(n)) != counts.end();
  };
  return runs.size.name == 'C' && sockets.size() == 2 && runs.machine.shape.cpu_domains() == 2 &&
         has(sockets[0].size()) &&
         counts.back() == static_cast<int>(runs.machine.shape.cpus().size());
}

void run(MgFlags const& f) {
  f.output.check();
  std::vector<sim::Machine> machines;
  for (auto const& name : f.machines) {
    machines.push_back(machine_for("--machine", name));
    thread_counts(f, machines.back());
  }
  std::string text, lines;
  for (auto& machine : machines) {
    auto const counts = thread_counts(f, machine);
    auto study = sim::study_mg(machine, cases_on(machine, f), counts, f.seed);
    MgRuns runs{std::move(machine), *class_named(f.problem), f.seed, std::move(study), {}};
    if (can_tell(runs)) runs.statements = sim::statements(runs.study, runs.machine);
    text += (text.empty() ? "" : "\n") + describe(runs);
    lines += result_lines(runs);
  }
  f.output.write(text, lines);
}

}  // namespace

void add_sim_mg(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "mg",
      "NPB's multigrid on two sockets: threads, pages and loop schedules of three frameworks");
  auto const f = std::make_shared<MgFlags>();
  command
      ->add_option("--machine", f->machines,
                   "Machines, or files of them (skylake-2x12 xeon-e5-2630-2x8)")
      ->type_name("NAME");
  command->add_option("--class", f->problem, "Size of the problem: W, A, B, C (C)")
      ->type_name("CLASS")
      ->check(CLI::IsMember({"W", "A", "B", "C"}));
  command
      ->add_option("--threads", f->threads,
                   "How many; several numbers (1, every second or so, all)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  add_seed(*command, f->seed, "Of the random numbers");
  command
      ->add_option(
          "--far-touch", f->far_touch,
          "First touch of a page takes so much longer where the program did not begin (4, fitted)")
      ->type_name("X")
      ->check(CLI::Range(1.0, 1000.0))
      ->check(not_nan());
  command->add_flag("--no-caches", f->no_caches, "Planes come from memory each time");
  command
      ->add_option("--first-thread", f->first_thread,
                   "What the program's first thread touches before all loops: nothing, u, all (u)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"nothing", "u", "all"}));
  f->output.add_to(*command);
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
