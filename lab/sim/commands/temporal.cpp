// SPDX-License-Identifier: Apache-2.0
// nigh sim temporal: time steps in tiles, by the width of tiles and the level of queues, on
// machines with more domains and caches than one has at hand.

#include "sim/temporal/temporal.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cli/program_main.hpp"
#include "sim/commands/sim.hpp"

namespace nigh::cli {
namespace {

using sim::TemporalCase;
using sim::TemporalOutcome;
using sim::TemporalWay;

constexpr int least_width = 2, most_planes = 10'000, most_steps = 1000;

struct TemporalFlags {
  std::vector<std::string> machines{"skylake-4x12", "epyc-2x96"};
  std::vector<int> sides{600, 200, 96}, widths;
  int planes = 2304, steps = 96;
  std::uint64_t seed = 1;
  bool no_cache = false;
  SimOutput output{"sim_temporal", {}, {}};
};

// Ways with tiles, in the order of their columns.
struct TiledWay {
  TemporalWay way;
  level queues;
  char const* name;
};
constexpr std::array<TiledWay, 3> tiled{{{TemporalWay::barriers, level::domain, "barriers"},
                                         {TemporalWay::queues, level::domain, "queues/domain"},
                                         {TemporalWay::queues, level::l3, "queues/l3"}}};

struct TemporalRow {
  int width = 0;
  bool is_chosen = false;
  std::array<TemporalOutcome, tiled.size()> ways;
};
struct TemporalGrid {
  int side = 0;
  bool obstacles = false;
  TemporalOutcome sweeps;
  std::vector<TemporalRow> rows;

  double best(std::size_t way) const {
    double most = 0;
    for (auto const& r : rows) most = std::max(most, r.ways[way].mlups);
    return most;
  }
};

TemporalGrid study(sim::Machine const& machine, TemporalFlags const& f, int side, bool obstacles) {
  TemporalGrid grid{side, obstacles, {}, {}};
  TemporalCase what;
  what.planes = f.planes;
  what.side = side;
  what.steps = f.steps;
  what.obstacles = obstacles;
  what.has_cache = !f.no_cache;
  grid.sweeps = run_temporal(machine, what, f.seed);
  int const chosen = chosen_width(machine, what);
  auto widths = f.widths;
  if (widths.empty())
    for (int const width : {4, 8, 16, 24})
      if (width <= f.planes) widths.push_back(width);
  widths.push_back(chosen);
  std::sort(widths.begin(), widths.end());
  widths.erase(std::unique(widths.begin(), widths.end()), widths.end());
  for (int const width : widths) {
    TemporalRow row{width, width == chosen, {}};
    what.width = width;
    for (std::size_t w = 0; w < tiled.size(); ++w) {
      what.way = tiled[w].way;
      what.queue_level = tiled[w].queues;
      row.ways[w] = run_temporal(machine, what, f.seed);
    }
    grid.rows.push_back(row);
  }
  return grid;
}

std::string describe(TemporalGrid const& grid) {
  std::string text = fmt::format("{:>4}  {:7} {:>8} {:>10.0f} {:>5.1f}\n", grid.side, "sweeps", "",
                                 grid.sweeps.mlups, grid.sweeps.bytes_per_update);
  for (auto const& row : grid.rows) {
    text += fmt::format("{:>4}  {:>3}{:4} {:>8.0f} ", grid.side, row.width,
                        row.is_chosen ? "*" : "", row.ways.front().window_kib);
    for (std::size_t w = 0; w < tiled.size(); ++w) {
      auto const& o = row.ways[w];
      text += fmt::format("{:>10.0f} {:>5.1f} {:>5.1f}%", o.mlups, o.bytes_per_update,
                          100 * o.remote_tiles);
    }
    text += '\n';
  }
  return text;
}

std::string describe(sim::Machine const& machine, std::vector<TemporalGrid> const& grids,
                     TemporalFlags const& f) {
  auto const workers = machine.shape.cpus().size();
  std::string text = fmt::format(
      "{}\n{} workers; MLUP/s of {} steps over {} planes of N x N sites, bytes an update to and "
      "from memory,\nremote tiles; * the width that nigh chooses; streaming limit {:.0f} MLUP/s "
      "(16 bytes an update){}\n",
      machine.title, workers, f.steps, f.planes, streaming_limit_mlups(machine),
      f.no_cache ? "; without caches" : "");
  for (bool const obstacles : {false, true}) {
    text += fmt::format("\n{}\n{:30}",
                        obstacles ? "with obstacles in the first half" : "empty grid", "");
    for (auto const& w : tiled) text += fmt::format("{:<23}", w.name);
    while (text.back() == ' ') text.pop_back();
    text += fmt::format("\n{:>4}  {:7} {:>8} ", "N", "width", "KiB");
    for (std::size_t w = 0; w < tiled.size(); ++w)
      text += fmt::format("{:>10} {:>5} {:>6}", "MLUP/s", "B", "remote");
    text += '\n';
    for (auto const& g : grids)
      if (g.obstacles == obstacles) text += describe(g);
  }
  text += fmt::format("\n{:<10} {:>6} {:>18} {:>20} {:>16}\n", "best width", "N",
                      "barriers : sweeps", "queues/l3 : barriers", "l3 : domain");
  for (auto const& g : grids)
    text += fmt::format("{:<10} {:>6} {:>18.2f} {:>20.2f} {:>16.2f}\n",
                        g.obstacles ? "obstacles" : "empty", g.side, g.best(0) / g.sweeps.mlups,
                        g.best(2) / g.best(0), g.best(2) / g.best(1));
  return text;
}

std::string result_lines(sim::Machine const& machine, TemporalGrid const& grid,
                         TemporalFlags const& f) {
  std::string text;
  auto const add = [&](std::string const& variant, TemporalOutcome const& o, bool is_chosen) {
    SimResult r;
    r.bench = "sim/temporal";
    r.variant = variant;
    r.settings = {{"machine", machine.name}, {"obstacles", grid.obstacles ? "yes" : "no"}};
    r.params = {{"side", grid.side},
                {"planes", f.planes},
                {"steps", f.steps},
                {"width", o.width},
                {"chosen", is_chosen},
                {"caches", !f.no_cache},
                {"seed", static_cast<long>(f.seed)}};
    r.metric = "rate";
    r.unit = "MLUP/s";
    r.samples = {o.mlups};
    r.counters = {{"bytes_per_update", o.bytes_per_update},
                  {"remote_tiles", o.remote_tiles},
                  {"remote_bytes", o.remote_bytes},
                  {"window_kib", o.window_kib},
                  {"limit_mlups", streaming_limit_mlups(machine)}};
    text += json_line(r, machine);
  };
  add("sweeps", grid.sweeps, false);
  for (auto const& row : grid.rows)
    for (std::size_t w = 0; w < tiled.size(); ++w) add(tiled[w].name, row.ways[w], row.is_chosen);
  return text;
}

void run(TemporalFlags const& f) {
  f.output.check();
  for (int const width : f.widths)
    if (width > f.planes)
      throw UsageError(fmt::format("--width: {} is more than the {} planes", width, f.planes));
  std::string text, lines;
  for (auto const& name : f.machines) {
    auto const machine = machine_for("--machine", name);
    std::vector<TemporalGrid> grids;
    for (int const side : f.sides)
      for (bool const obstacles : {false, true})
        grids.push_back(study(machine, f, side, obstacles));
    text += (text.empty() ? "" : "\n") + describe(machine, grids, f);
    for (auto const& g : grids) lines += result_lines(machine, g, f);
  }
  f.output.write(text, lines);
}

}  // namespace

void add_sim_temporal(CLI::App& sim) {
  auto* const command = sim.add_subcommand(
      "temporal",
      "Time steps in tiles that stay in a cache, by width of tiles and level of queues");
  auto const f = std::make_shared<TemporalFlags>();
  command
      ->add_option("--machine", f->machines, "Machines, or files of some (skylake-4x12 epyc-2x96)")
      ->type_name("NAME...");
  command->add_option("--side", f->sides, "Sites in a row, and rows in a plane (600 200 96)")
      ->type_name("N...")
      ->check(CLI::Range(2, 100'000));
  command
      ->add_option("--width", f->widths,
                   "Planes of a tile, besides the width that nigh chooses (4 8 16 24)")
      ->type_name("N...")
      ->check(CLI::Range(least_width, most_planes));
  command->add_option("--planes", f->planes, "Planes, in blocks over the domains (2304)")
      ->type_name("N")
      ->check(CLI::Range(least_width, most_planes));
  command->add_option("--steps", f->steps, "Time steps (96)")
      ->type_name("N")
      ->check(CLI::Range(1, most_steps));
  command->add_flag("--no-cache", f->no_cache, "Nothing stays in caches");
  add_seed(*command, f->seed, "Of what differs from piece to piece");
  f->output.add_to(*command);
  command->callback([f] { run(*f); });
}

}  // namespace nigh::cli
