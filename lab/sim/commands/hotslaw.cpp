// SPDX-License-Identifier: Apache-2.0
// The output of nigh sim hotslaw: text and JSON lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/in_parallel.hpp"
#include "sim/commands/sim.hpp"
#include "sim/machine.hpp"
#include "sim/steal/studies.hpp"
#include "tune/standings.hpp"

namespace nigh::cli {

namespace {

struct HotslawCell {
  std::string benchmark;
  sim::HotslawWay way;
  std::vector<sim::StealOutcome> runs;  // one a seed

  double ms() const;  // median
  double steals() const;
  double inline_share() const;
};

struct HotslawStudy {
  sim::StealMachine cluster, slow_network, smp;
  int seeds = 5;
  std::uint64_t seed = 1;
  std::vector<std::string> benchmarks;
  std::vector<HotslawCell> cells;            // on the cluster
  std::vector<HotslawCell> on_slow_network;  // on the same with a slower network
  std::vector<HotslawCell> on_smp;           // on one host

  // All cells have the same bound of queues and way of taking chunks.
  sim::StealRules const& rules() const { return cells.front().way.rules; }
};

// The study of work stealing as tables for people, published figures beside simulated ones, and as
// lines for scripts.

// The paper's conclusion. Its figures' bars have no numbers.
constexpr double published_hvs = 0.52;       // over random, up to
constexpr double published_hcs = 1.22;       // over half, up to
constexpr double published_combined = 0.27;  // over random and half
constexpr int papers_cores = 256;

using Cells = std::vector<HotslawCell>;

HotslawCell const& cell(Cells const& cells, std::string_view benchmark, std::string_view way) {
  return *std::find_if(cells.begin(), cells.end(), [&](HotslawCell const& c) {
    return c.benchmark == benchmark && c.way.name == way;
  });
}

// How much faster than: 0.5 is one and a half times the speed.
double gain(Cells const& cells, std::string_view benchmark, std::string_view way,
            std::string_view than) {
  return cell(cells, benchmark, than).ms() / cell(cells, benchmark, way).ms() - 1;
}

struct Extremes {
  double least = std::numeric_limits<double>::infinity(), most = -least, log_sum = 0;
  std::string least_of, most_of;
  int count = 0;

  void add(std::string const& benchmark, double gained) {
    if (gained < least) least = gained, least_of = benchmark;
    if (gained > most) most = gained, most_of = benchmark;
    log_sum += std::log1p(gained);
    ++count;
  }
  double mean() const { return std::expm1(log_sum / count); }  // geometric
};

std::optional<sim::HotslawBenchmark> published(std::string_view benchmark) {
  for (auto const& b : sim::hotslaw_benchmarks)
    if (b.name == benchmark && b.smp_steals > 0) return b;
  return std::nullopt;
}

bool is_the_papers(std::string_view benchmark) { return published(benchmark).has_value(); }

Extremes gains(HotslawStudy const& s, Cells const& cells, std::string_view way,
               std::string_view than) {
  Extremes all;
  for (auto const& b : s.benchmarks)
    if (is_the_papers(b)) all.add(b, gain(cells, b, way, than));
  return all;
}

std::string table(HotslawStudy const& s, Cells const& cells) {
  auto const width_of = [](HotslawCell const& c) {
    return std::max<std::size_t>(c.way.name.size() + 2, 9);
  };
  std::string text = fmt::format("{:10}", "");
  for (auto const& c : cells)
    if (c.benchmark == s.benchmarks.front()) text += fmt::format("{:>{}}", c.way.name, width_of(c));
  for (auto const& b : s.benchmarks) {
    text += fmt::format("\n{:10}", b);
    for (auto const& c : cells)
      if (c.benchmark == b) text += fmt::format("{:>{}.2f}", c.ms(), width_of(c));
  }
  return text + "\n\n";
}

double ratio_16_to_1(HotslawStudy const& s, std::string_view benchmark) {
  return cell(s.cells, benchmark, "hvs+16").ms() / cell(s.cells, benchmark, "hvs+1").ms();
}

double hcs_spread(HotslawStudy const& s, std::string_view benchmark) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (int k : sim::hotslaw_chunks) {
    auto const ms = cell(s.cells, benchmark, fmt::format("hvs+hcs{}", k)).ms();
    least = std::min(least, ms);
    most = std::max(most, ms);
  }
  return most / least;
}

std::string percent(double part) { return fmt::format("{:+.0f}%", 100 * part); }

std::string beside_published(HotslawStudy const& s) {
  bool const is_published = s.cluster.workers() == papers_cores;
  auto text = is_published
                  ? fmt::format("{:52}{:>10}{:>10}{:>8}\n", "beside what is published", "published",
                                "simulated", "error")
                  : fmt::format("in short; what is published is of {} cores\n", papers_cores);
  auto const line = [&](std::string const& what, double published, double simulated) {
    text += is_published ? fmt::format("{:52}{:>10}{:>10}{:>+8.0f}\n", what, percent(published),
                                       percent(simulated), 100 * (simulated - published))
                         : fmt::format("{:52}{:>10}\n", what, percent(simulated));
  };
  auto const hvs = gains(s, s.cells, "hvs+half", "random+half");
  auto const both = gains(s, s.cells, "hvs+hcs1", "random+half");
  auto const hcs = gains(s, s.cells, "hvs+hcs1", "hvs+half");
  if (hvs.count == 0) return {};
  line(fmt::format("HVS over random, up to ({})", hvs.most_of), published_hvs, hvs.most);
  line("HVS + HCS over random + half, geometric mean", published_combined, both.mean());
  line(fmt::format("HCS over half, up to ({})", hcs.most_of), published_hcs, hcs.most);
  auto const slow = gains(s, s.on_slow_network, "hvs+hcs1", "hvs+half");
  line(fmt::format("  where interfaces take {} times as long ({})", sim::hotslaw_slow_network,
                   slow.most_of),
       published_hcs, slow.most);
  text += fmt::format("HVS over random, least: {} ({})\n", percent(hvs.least), hvs.least_of);
  text += "time with fixed 16 / fixed 1 (published: drastically slower but for T3L, sparselu):";
  for (auto const& b : s.benchmarks) text += fmt::format(" {} {:.2f}", b, ratio_16_to_1(s, b));
  text += fmt::format("\nslowest / fastest of HCS {} (published: robust):",
                      fmt::join(sim::hotslaw_chunks, ", "));
  for (auto const& b : s.benchmarks) text += fmt::format(" {} {:.2f}", b, hcs_spread(s, b));
  return text + '\n';
}

// The paper has a figure of it, but no numbers in its text.
std::string cost_table(sim::StealMachine const& machine) {
  constexpr int sizes[] = {0, 64, 1024, 16384};
  std::string text = "us to steal one task, by level and bytes\n\n          ";
  for (int bytes : sizes) text += fmt::format("{:>10}", bytes);
  for (auto const& rung : machine.rungs) {
    text += fmt::format("\n{:10}", rung.name);
    for (int bytes : sizes)
      text += fmt::format("{:>10.2f}", static_cast<double>(rung.steal_of(bytes)) * 1e-3);
  }
  return text + "\n\n";
}

std::string steal_counts(HotslawStudy const& s) {
  auto text = fmt::format("steals on one host of {} cores, HVS + fixed 1\n\n{:10}{:>12}{:>12}\n",
                          s.smp.workers(), "", "published", "simulated");
  for (auto const& c : s.on_smp) {
    auto const known = published(c.benchmark);
    text += fmt::format("{:10}{:>12}{:>12.0f}\n", c.benchmark,
                        known ? std::to_string(known->smp_steals) : "-", c.steals());
  }
  return text;
}

std::string inline_shares(HotslawStudy const& s) {
  auto text = fmt::format("\npercent of tasks run inline there\n\n{:10}{:>12}{:>12}\n", "",
                          "published", "simulated");
  for (auto const& c : s.on_smp) {
    auto const known = published(c.benchmark);
    text += fmt::format("{:10}{:>12}{:>12.1f}\n", c.benchmark,
                        known ? fmt::format("{:.1f}", 100 * known->inline_share()) : "-",
                        100 * c.inline_share());
  }
  return text;
}

std::string lines_of(HotslawStudy const& s, std::string const& bench, Cells const& cells,
                     sim::StealMachine const& thieves, sim::Machine const& machine) {
  std::string text;
  for (auto const& c : cells) {
    SimResult r;
    r.bench = bench;
    r.variant = c.way.name;
    r.params = {{"cores", thieves.workers()},
                {"interface_ns", static_cast<long>(thieves.interface_ns)},
                {"queue", c.way.rules.queue_cutoff},
                {"seed", static_cast<long>(s.seed)}};
    if (c.way.rules.whole_chunks) r.params["whole_chunks"] = 1;
    r.settings = {{"machine", machine.name}, {"problem", c.benchmark}};
    r.metric = "time";
    r.unit = "ms";
    for (auto const& run : c.runs) r.samples.push_back(run.seconds_of_all() * 1e3);
    auto const median = [&](auto number) {
      std::vector<double> all;
      for (auto const& run : c.runs) all.push_back(static_cast<double>(number(run)));
      return tune::median(all);
    };
    r.counters = {{"steals", c.steals()},
                  {"stolen", median([](auto const& run) { return run.stolen; })},
                  {"probes", median([](auto const& run) { return run.probes; })},
                  {"tasks", median([](auto const& run) { return run.tasks; })},
                  {"inline_share", c.inline_share()}};
    if (auto const known = published(c.benchmark); known && bench.ends_with("smp"))
      r.counters["published_steals"] = static_cast<double>(known->smp_steals);
    text += json_line(r, machine);
  }
  return text;
}

double HotslawCell::ms() const {
  std::vector<double> all;
  for (auto const& run : runs) all.push_back(run.seconds_of_all() * 1e3);
  return tune::median(all);
}

double HotslawCell::steals() const {
  std::vector<double> all;
  for (auto const& run : runs) all.push_back(static_cast<double>(run.steals));
  return tune::median(all);
}

double HotslawCell::inline_share() const {
  std::vector<double> all;
  for (auto const& run : runs)
    all.push_back(static_cast<double>(run.run_inline) / static_cast<double>(run.tasks));
  return tune::median(all);
}

std::string describe(HotslawStudy const& s, sim::Machine const& machine) {
  int const queue = s.rules().queue_cutoff;
  auto bound = queue > 0 ? fmt::format("; queues of {} tasks", queue) : std::string();
  if (s.rules().whole_chunks) bound += "; fixed chunks whole or not at all";
  return fmt::format("{}\nms on {} cores; medians of {} seeds{}\n\n", machine.title,
                     s.cluster.workers(), s.seeds, bound) +
         table(s, s.cells) +
         fmt::format("where each operation keeps the network's interfaces {} times as long\n\n",
                     sim::hotslaw_slow_network) +
         table(s, s.on_slow_network) + beside_published(s) + '\n' + cost_table(s.cluster) +
         steal_counts(s) + (queue > 0 ? inline_shares(s) : std::string());
}

std::string result_lines(HotslawStudy const& s, sim::Machine const& machine,
                         sim::Machine const& smp) {
  return lines_of(s, "sim/hotslaw", s.cells, s.cluster, machine) +
         lines_of(s, "sim/hotslaw", s.on_slow_network, s.slow_network, machine) +
         lines_of(s, "sim/hotslaw/smp", s.on_smp, s.smp, smp);
}

// nigh sim hotslaw: whom thieves ask and how much they take, on the paper's cluster.

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
