// SPDX-License-Identifier: Apache-2.0
// nigh sim spread: how many workers for one block, by the size of blocks, on the machines of the
// paper on that.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"
#include "sim/spread/study.hpp"

namespace nigh::cli {
namespace {

constexpr double published_least = 0.20, published_most = 0.30;
constexpr std::array<std::string_view, 2> papers_machines{"bridges-2x14", "summit-2x22"};

struct SpreadFlags {
  std::vector<std::string> machines{papers_machines.begin(), papers_machines.end()};
  std::vector<int> edges{256, 362, 512, 724, 1024, 1448, 2048, 2896, 4096, 7452};
  int grid = 24, iterations = 4, choices = 100;
  std::uint64_t seed = 1;
  bool no_send = false, no_cache = false;
  SimOutput output{"sim_spread", {}, {}};
};

struct MachineStudy {
  sim::Machine machine;
  std::vector<sim::SpreadRow> rows;
  double without_caches = 0;  // the largest gain there, of spread 1's time

  sim::SpreadRow const& best() const {
    return *std::max_element(rows.begin(), rows.end(),
                             [](auto const& a, auto const& b) { return a.gain() < b.gain(); });
  }
};

std::string time_text(double s) {
  return s < 10e-3 ? fmt::format("{:.3f}", 1e3 * s)
         : s < 1   ? fmt::format("{:.1f}", 1e3 * s)
                   : fmt::format("{:.0f}", 1e3 * s);
}

std::string describe(MachineStudy const& m, SpreadFlags const& f) {
  std::string text = fmt::format(
      "{}\nms an iteration over {} x {} blocks takes; * the best spread{}{}\n\n{:>6}{:>9}",
      m.machine.title, f.grid, f.grid, f.no_send ? "; nothing is sent" : "",
      f.no_cache ? "; without caches" : "", "edge", "MB");
  auto const& first = m.rows.front();
  for (std::size_t i = 0; i < first.all_workers; ++i)
    text += fmt::format("{:>9} ", first.cells[i].config.spread);
  text += fmt::format("{:>8}", "change");
  if (f.choices > 0)
    text += fmt::format("{:>8}{:>8}{:>10}{:>8}", "chosen", "trials", "near best", "worse");
  text += '\n';
  for (auto const& row : m.rows) {
    double const edge = row.edge;
    text += fmt::format("{:>6}{:>9.1f}", row.edge, edge * edge * 16e-6);
    for (std::size_t i = 0; i < row.all_workers; ++i)
      text += fmt::format("{:>9}{}", time_text(row.cells[i].times.iteration_s),
                          &row.cells[i] == &row.best() ? '*' : ' ');
    text += fmt::format("{:>+7.1f}%", 0 - 100 * row.gain());
    if (f.choices > 0)
      text += fmt::format("{:>8}{:>8.0f}{:>9.0f}%{:>7.0f}%", row.choice.most_common.spread,
                          row.choice.median_trials, 100.0 * row.choice.near_best / row.choice.runs,
                          100.0 * row.choice.worse_than_usual / row.choice.runs);
    text += '\n';
  }
  auto const& best = m.best();
  bool const published = std::find(papers_machines.begin(), papers_machines.end(),
                                   m.machine.name) != papers_machines.end();
  text += fmt::format(
      "\n                          {:11}simulated\n"
      "least time of spread 1's  {:16}{:+.1f}%: spread {} of {}, edge {}\n",
      published ? "published" : "",
      published ? fmt::format("{:+.0f} to {:+.0f}%", -100 * published_least, -100 * published_most)
                : "",
      0 - 100 * best.gain(), best.best().config.spread,
      best.cells[best.all_workers - 1].config.spread, best.edge);
  if (!f.no_cache)
    text += fmt::format("the same without caches                  {:+.1f}%\n",
                        0 - 100 * m.without_caches);
  return text;
}

std::string result_lines(MachineStudy const& m, SpreadFlags const& f) {
  std::string text;
  for (auto const& row : m.rows) {
    SimResult r;
    r.bench = "sim/spread";
    r.settings = {{"machine", m.machine.name}};
    for (auto const& cell : row.cells) {
      auto const& c = cell.config;
      r.params = {{"edge", row.edge},
                  {"grid", f.grid},
                  {"spread", c.spread},
                  {"active", c.active},
                  {"sends", !f.no_send},
                  {"caches", !f.no_cache},
                  {"seed", static_cast<long>(f.seed)}};
      r.variant = fmt::format("spread-{}", c.spread);
      r.metric = "time";
      r.unit = "s";
      r.samples = {cell.times.iteration_s};
      r.counters = {{"kept_share", cell.times.kept},
                    {"memory_gb_per_s", cell.times.memory_gb_per_s},
                    {"teams", cell.times.teams}};
      text += json_line(r, m.machine);
    }
    if (f.choices == 0) continue;
    auto const& choice = row.choice;
    r.variant = "choice";
    r.metric = "above_best";
    r.unit = "1";
    r.params = {{"edge", row.edge},
                {"grid", f.grid},
                {"runs", choice.runs},
                {"seed", static_cast<long>(f.seed)}};
    r.samples = {choice.median_above_best};
    r.counters = {{"near_best_share", 1.0 * choice.near_best / choice.runs},
                  {"worse_share", 1.0 * choice.worse_than_usual / choice.runs},
                  {"trials", choice.median_trials},
                  {"most_trials", choice.most_trials},
                  {"spread", choice.most_common.spread},
                  {"active", choice.most_common.active}};
    text += json_line(r, m.machine);
  }
  return text;
}

MachineStudy study(std::string const& name, SpreadFlags const& f) {
  MachineStudy m{machine_for("--machine", name), {}, 0};
  sim::SpreadStudy s;
  s.loop.grid = f.grid;
  s.loop.iterations = f.iterations;
  s.loop.sends = !f.no_send;
  s.loop.has_cache = !f.no_cache;
  s.seed = f.seed;
  s.choices = f.choices;
  auto control = s;
  control.choices = 0;
  control.loop.has_cache = false;
  for (int edge : f.edges) {
    m.rows.push_back(study_block_size(m.machine, s, edge));
    if (!f.no_cache)
      m.without_caches =
          std::max(m.without_caches, study_block_size(m.machine, control, edge).gain());
  }
  return m;
}

void run(SpreadFlags const& f) {
  f.output.check();
  std::string text, lines;
  for (auto const& name : f.machines) {
    auto const m = study(name, f);
    text += (text.empty() ? "" : "\n") + describe(m, f);
    lines += result_lines(m, f);
  }
  f.output.write(text, lines);
}

}  // namespace

void add_sim_spread(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "spread", "How many workers for one block: the paper on flexible hierarchical execution");
  auto const f = std::make_shared<SpreadFlags>();
  command
      ->add_option("--machine", f->machines,
                   "Machines, or files of some (bridges-2x14 summit-2x22)")
      ->type_name("NAME...");
  command->add_option("--edge", f->edges, "Sites in a row of a block (256 to 7452, ten sizes)")
      ->type_name("N...")
      ->check(CLI::Range(16, 100'000));
  command->add_option("--grid", f->grid, "Blocks in a row and in a column (24)")
      ->type_name("N")
      ->check(CLI::Range(2, 200));
  command->add_option("--iterations", f->iterations, "How many are timed (4)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  command->add_option("--choices", f->choices, "Runs of SpreadChoice for each size; 0: none (100)")
      ->type_name("N")
      ->check(CLI::Range(0, 100'000));
  command->add_flag("--no-send", f->no_send, "Send no borders: what caches do alone");
  command->add_flag("--no-cache", f->no_cache, "Nothing stays in caches: what sending does alone");
  add_seed(*command, f->seed, "Of what differs from block to block");
  f->output.add_to(*command);
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
