// SPDX-License-Identifier: Apache-2.0
// nigh sim hotslaw: whom thieves ask and how much they take, on the paper's cluster.

#include "sim/commands/hotslaw.hpp"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>

#include "cli/program_main.hpp"
#include "sim/commands/in_parallel.hpp"
#include "sim/commands/options.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {
namespace {

constexpr char const* smp_name = "nehalem-2x4";

struct HotslawFlags {
  std::string machine = "carver-32x8";
  std::vector<std::string> only;
  int cores = 0, queue = 0;
  bool whole_chunks = false;
  SimSeeds random;
  SimOutput output{"sim_hotslaw", {}, {}};
};

sim::StealMachine thieves_of(std::string const& argument, sim::Machine const& machine, int cores) {
  auto found = sim::steal_machine(machine, cores);
  if (!found) throw UsageError(argument + ": " + found.message());
  return std::move(found).value();
}

struct Job {
  HotslawCell* cell;
  sim::StealMachine const* machine;
  std::size_t nth;  // seed
};

// All runs of one program, which is built for them and gone after them.
void run_benchmark(HotslawStudy& study, std::string const& benchmark) {
  auto const forest = sim::paper_tasks(benchmark);
  std::vector<Job> jobs;
  for (auto [cells, machine] : {std::pair{&study.cells, &study.cluster},
                                std::pair{&study.on_slow_network, &study.slow_network},
                                std::pair{&study.on_smp, &study.smp}})
    for (auto& cell : *cells) {
      if (cell.benchmark != benchmark) continue;
      cell.runs.resize(static_cast<std::size_t>(study.seeds));
      for (std::size_t s = 0; s < cell.runs.size(); ++s) jobs.push_back({&cell, machine, s});
    }
  std::vector<std::string> errors(jobs.size());
  in_parallel(jobs.size(), [&](std::size_t j) {
    auto const& [cell, machine, nth] = jobs[j];
    auto all = sim::StealRun(forest, *machine, cell->way.rules, study.seed + nth).run();
    if (all)
      cell->runs[nth] = std::move(all).value();
    else
      errors[j] = all.message();
  });
  for (auto const& e : errors)
    if (!e.empty()) throw std::runtime_error("sim: " + benchmark + ": " + e);
}

void study(HotslawFlags const& f) {
  f.output.check();
  auto const machine = machine_for("--machine", f.machine);
  auto const smp = machine_for("--machine", smp_name);
  auto const cluster = thieves_of("--machine", machine, f.cores);
  HotslawStudy s{
      cluster, cluster, thieves_of("--machine", smp, 0), f.random.seeds, f.random.seed, f.only, {},
      {},      {}};
  s.slow_network.interface_ns *= sim::hotslaw_slow_network;
  if (s.benchmarks.empty())
    for (auto const& b : sim::hotslaw_benchmarks) s.benchmarks.emplace_back(b.name);
  for (auto const& b : s.benchmarks) {
    for (auto const& way : sim::hotslaw_ways()) s.cells.push_back({b, way, {}});
    for (auto const& way : sim::hotslaw_slow_network_ways())
      s.on_slow_network.push_back({b, way, {}});
    s.on_smp.push_back({b, sim::hotslaw_smp_way(), {}});
  }
  for (auto* const cells : {&s.cells, &s.on_slow_network, &s.on_smp})
    for (auto& cell : *cells) {
      cell.way.rules.queue_cutoff = f.queue;
      cell.way.rules.whole_chunks = f.whole_chunks;
    }
  for (auto const& b : s.benchmarks) run_benchmark(s, b);
  auto const text = describe(s, machine);
  auto const lines = result_lines(s, machine, smp);
  f.output.write(text, lines);
}

}  // namespace

void add_sim_hotslaw(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "hotslaw", "Work stealing on a cluster: whom thieves ask and how much they take");
  auto const f = std::make_shared<HotslawFlags>();
  add_machine(*command, f->machine);
  command->add_option("--cores", f->cores, "Only so many of it, in whole hosts (all)")
      ->type_name("N")
      ->check(CLI::Range(2, 1 << 24));
  command
      ->add_option("--only", f->only,
                   "Of the programs fib, nqueens, sparselu and UTS's trees these (fib, nqueens, "
                   "T1, T1L, T2L, T3L, sparselu)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->check(CLI::IsMember(sim::paper_names()));
  command
      ->add_option("--queue", f->queue,
                   "Workers run children inline while so many of their tasks wait (never)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20));
  command->add_flag("--whole-chunks", f->whole_chunks,
                    "Thieves that take a fixed number of tasks take all of it or none");
  f->random.add_to(*command);
  f->output.add_to(*command);
  command->callback([f] { study(*f); });
}

}  // namespace nigh::cli
