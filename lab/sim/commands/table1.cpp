// SPDX-License-Identifier: Apache-2.0
// nigh sim table1: tasks with and without locality queues, and loops, on the machines of the paper
// on locality queues.

#include "sim/commands/table1.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/options.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {
namespace {

constexpr char const* papers_machine = "opteron-4x2";
constexpr char const* uniform_machine = "dunnington-4x6";  // the paper's other one
constexpr int fit_evaluations = 220;

struct Table1Flags {
  std::string machine = papers_machine;
  SimSeeds random;
  int layers = 60, waiting = 256;
  bool leave_one_out = false;
  SimOutput output{"sim_table1", {}, {}};
};

template <class Simulate>
std::vector<double> each_seed(Table1Flags const& f, Simulate simulate) {
  std::vector<double> mlups;
  for (int s = 0; s < f.random.seeds; ++s)
    mlups.push_back(simulate(f.random.seed + static_cast<std::uint64_t>(s)));
  return mlups;
}

// The text: with all pages in domain 0 as fast as tasks under static/kji; dynamic on two sockets as
// static/jki, on four as static,1/jki.
std::optional<double> published(sim::JacobiLoop const& what) {
  if (what.pages == sim::LoopPages::first_domain && what.sockets == 4) return 149.8;
  if (what.pages != sim::LoopPages::own || what.schedule != schedule_kind::dynamic) return {};
  if (what.sockets == 2) return 247.9;
  if (what.sockets == 4) return 412.7;
  return {};
}

// On the paper's machines two threads a socket, elsewhere all there are.
LoopStudy loops_on(sim::Machine machine, Table1Flags const& f, bool is_one_of_the_papers,
                   bool has_published) {
  int const cpus = static_cast<int>(machine.shape.groups(level::package).front().size());
  LoopStudy study{std::move(machine), is_one_of_the_papers ? 2 : cpus, f.layers, {}};
  using enum schedule_kind;
  for (auto const& [schedule, pages] :
       {std::pair{static_blocks, sim::LoopPages::own}, std::pair{dynamic, sim::LoopPages::own},
        std::pair{static_blocks, sim::LoopPages::first_domain}}) {
    if (pages == sim::LoopPages::first_domain && study.machine.links.domains() == 1) continue;
    for (int n = 1; n <= sim::sockets_of(study.machine); ++n) {
      sim::JacobiLoop const what{schedule, pages, n, study.threads, f.layers};
      study.cells.push_back(
          {what, has_published ? published(what) : std::nullopt, each_seed(f, [&](std::uint64_t s) {
             return sim::jacobi_loop_mlups(study.machine, what, s);
           })});
    }
  }
  return study;
}

Table1Study simulate(Table1Flags const& f) {
  Table1Study study{machine_for("--machine", f.machine),
                    false,
                    false,
                    f.random.seed,
                    f.random.seeds,
                    f.layers,
                    f.waiting,
                    {},
                    {},
                    {}};
  study.is_the_papers = study.machine.shape.cpu_domains() == 4 &&
                        study.machine.shape.cpus().size() == 8 &&
                        sim::sockets_of(study.machine) == 4;
  bool const is_one = study.is_the_papers || f.machine == uniform_machine;
  study.has_published = study.is_the_papers && f.layers == 60 && f.waiting == 256;
  for (auto cell : sim::table1) {
    cell.what.layers = f.layers;
    cell.what.most_waiting = f.waiting;
    study.table.push_back({cell, each_seed(f, [&](std::uint64_t s) {
                             return sim::jacobi_mlups(study.machine, cell.what, s);
                           })});
  }
  study.loops.push_back(loops_on(study.machine, f, is_one, study.has_published));
  if (f.machine == papers_machine)
    study.loops.push_back(loops_on(machine_for("--machine", uniform_machine), f, true, false));
  if (f.leave_one_out)
    for (int out = -1; out < static_cast<int>(sim::table1.size()); ++out)
      study.fits.push_back(sim::fit_table1(study.machine, out, f.random.seed, fit_evaluations));
  return study;
}

void run(Table1Flags const& f) {
  f.output.check();
  auto const study = simulate(f);
  auto const text = describe(study);
  auto const lines = result_lines(study);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_table1(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "table1", "Tasks, locality queues and loops of a Jacobi sweep: the paper on locality queues");
  auto const f = std::make_shared<Table1Flags>();
  add_machine(*command, f->machine);
  f->random.add_to(*command);
  command->add_option("--layers", f->layers, "Of blocks, along k (60)")
      ->type_name("N")
      ->check(CLI::Range(1, 600));
  command
      ->add_option("--waiting", f->waiting,
                   "Tasks that may wait before their submitter runs one (256)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command->add_flag("--leave-one-out", f->leave_one_out,
                    "Fit the machine's memory to all cells but one, for each; takes minutes");
  f->output.add_to(*command);
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
