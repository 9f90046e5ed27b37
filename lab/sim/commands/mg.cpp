// SPDX-License-Identifier: Apache-2.0
// nigh sim mg: NPB's multigrid on two sockets, its threads, pages and loops in several ways.

#include "sim/commands/mg.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/options.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {
namespace {

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
