// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.

#include "bench/spread/study.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "jacobi2d/variant.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

using jacobi2d::Blocks;
using jacobi2d::Problem;
using jacobi2d::Variant;

jacobi2d::Team team_for(SpreadOptions const& o, SpreadCell const& cell) {
  jacobi2d::Team team;
  team.machine = &o.machine;
  team.cpus = cpus_for(o.threads, o.machine);
  team.pin = pin_this_thread;
  team.spread = std::max(1, cell.spread);
  team.active = cell.active;
  team.rows = cell.rows;
  return team;
}

// Blocks that cannot occupy all threads tell nothing, but where that is what is asked.
bool is_worth_it(Problem const& p, SpreadCell const& cell, SpreadOptions const& o) {
  jacobi2d::VariantInfo const& v = *cell.variant;
  bool const all_on_one_block = v.by_rows && !v.by_spread;
  if (v.chooses || all_on_one_block || v.name == "serial") return true;
  int const active = cell.active > 0 ? cell.active : o.threads;
  int const spread = std::max(1, cell.spread);
  return p.blocks * p.blocks >= (active + spread - 1) / spread;
}

std::vector<SpreadCell> cells_of(Problem const& p, bool of_grid, SpreadOptions const& o) {
  std::vector<SpreadCell> cells;
  auto const add = [&](SpreadCell cell) {
    if (!is_worth_it(p, cell, o)) return;
    cell.absent = cell.variant->make == nullptr ? cell.variant->why_absent : "";
    cells.push_back(std::move(cell));
  };
  for (jacobi2d::VariantInfo const* const v : o.variants) {
    SpreadCell cell;
    cell.variant = v;
    if (v->by_active) {
      for (int const active : o.actives)
        for (int const spread : o.spreads)
          if (spread <= active) {
            cell.spread = spread, cell.active = active;
            add(cell);
          }
    } else if (v->by_spread) {
      if (!of_grid) continue;
      for (int const spread : o.spreads) {
        cell.spread = spread;
        add(cell);
      }
    } else if (v->by_rows && !v->chooses) {
      for (jacobi2d::RowSchedule const& rows : o.rows) {
        if (!of_grid && rows != jacobi2d::RowSchedule{}) continue;
        cell.rows = rows;
        add(cell);
      }
    } else {
      add(cell);
    }
  }
  return cells;
}

// Where there are several domains, memory is made again for every sample, so that each variant is
// the first to touch it.
class Memory {
 public:
  Memory(SpreadOptions const& o, Problem const& p) : options_(o), problem_(p) {}

  Blocks& blocks() {
    if (blocks_ == nullptr || options_.machine.domains().size() > 1) {
      blocks_.reset();  // before the next ones are asked for
      blocks_ = std::make_unique<Blocks>(problem_, *options_.kernel, &options_.machine);
    }
    return *blocks_;
  }

 private:
  SpreadOptions const& options_;
  Problem problem_;
  std::unique_ptr<Blocks> blocks_;
};

// Threads of the variant before are asleep by then.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

// Iterations one by one until it tries nothing any more.
void let_choose(Variant& variant, Blocks& blocks, SpreadCell& cell) {
  constexpr int most_iterations = 200;
  jacobi2d::fill(variant, blocks);
  do {
    jacobi2d::iterate(variant, blocks, 1);
    ++cell.iterations_to_hold;
  } while (!variant.chosen().holds && cell.iterations_to_hold < most_iterations);
  cell.chosen = variant.chosen();
}

void measure(SpreadGroup& group, SpreadOptions const& o, nigh::platform::Progress& progress) {
  Problem const& p = group.problem;
  Memory memory(o, p);
  auto const run = [&](Variant& variant, Blocks& blocks) {
    jacobi2d::fill(variant, blocks);
    return jacobi2d::iterate(variant, blocks, p.iterations);
  };
  auto const serial = jacobi2d::find_variant("serial")->make(team_for(o, {}));
  run(*serial, memory.blocks());
  std::uint64_t const expected = jacobi2d::checksum(*serial, memory.blocks());

  std::map<SpreadCell const*, std::unique_ptr<Variant>> choosers;
  for (SpreadCell& cell : group.cells) {
    if (!cell.chooses() || !cell.absent.empty()) continue;
    settle();
    auto variant = cell.variant->make(team_for(o, cell));
    let_choose(*variant, memory.blocks(), cell);
    choosers[&cell] = std::move(variant);
  }
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (SpreadCell& cell : group.cells) {
      progress.step(fmt::format("{} blocks of {} {}", p.blocks, p.points, cell.name()));
      if (!cell.absent.empty()) continue;
      settle();
      auto const chooser = choosers.find(&cell);
      std::unique_ptr<Variant> made;
      if (chooser == choosers.end()) made = cell.variant->make(team_for(o, cell));
      Variant& variant = made ? *made : *chooser->second;
      Blocks& blocks = memory.blocks();
      cell.seconds.push_back(run(variant, blocks));
      cell.verified = cell.verified && jacobi2d::checksum(variant, blocks) == expected;
      cell.chosen = variant.chosen();
    }
}

}  // namespace

std::string SpreadCell::name() const {
  std::string text = variant->name;
  if (spread > 0) text += fmt::format(" {}", spread);
  if (active > 0) text += fmt::format(" of {}", active);
  if (rows != jacobi2d::RowSchedule{}) text += ',' + to_string(rows);
  return text;
}

double SpreadGroup::rate(SpreadCell const& cell) const {
  double const seconds = median_of(cell.seconds);
  return seconds > 0 ? problem.updates() / seconds / 1e6 : 0;
}

SpreadCell const* SpreadGroup::best_fixed() const {
  SpreadCell const* best = nullptr;
  for (SpreadCell const& c : cells)
    if (c.is_fixed_spread() && (best == nullptr || median_of(c.seconds) < median_of(best->seconds)))
      best = &c;
  return best;
}

SpreadCell const* SpreadGroup::spread_1(int threads) const {
  for (SpreadCell const& c : cells)
    if (c.is_fixed_spread() && c.spread == 1 && c.active == threads) return &c;
  return nullptr;
}

SpreadCell const* SpreadGroup::automatic() const {
  for (SpreadCell const& c : cells)
    if (c.chooses()) return &c;
  return nullptr;
}

double time_over(SpreadCell const& cell, SpreadCell const& other) {
  return median_of_ratios(cell.seconds, other.seconds);
}

SpreadStudy study(SpreadOptions const& o) {
  SpreadStudy s;
  int steps = 0;
  auto const add = [&](std::vector<Problem> const& problems, bool of_grid) {
    for (Problem const& p : problems) {
      s.groups.push_back({of_grid, p, cells_of(p, of_grid, o)});
      steps += static_cast<int>(s.groups.back().cells.size()) * o.repetitions;
    }
  };
  add(o.grid, true);
  add(o.cache, false);
  nigh::platform::Progress progress(steps);
  for (SpreadGroup& group : s.groups) measure(group, o, progress);
  return s;
}

namespace {

// Both fields, without ghosts.
double block_bytes(Problem const& p) { return 2.0 * sizeof(double) * p.points * p.points; }

std::string bytes_text(double bytes) {
  return bytes < 1 << 20 ? fmt::format("{:.0f} KiB", bytes / (1 << 10))
                         : fmt::format("{:.3g} MiB", bytes / (1 << 20));
}

std::string percent(double ratio) { return fmt::format("{:+.1f}%", 100 * (ratio - 1)); }

std::vector<SpreadGroup const*> groups_of(SpreadStudy const& s, bool of_grid, bool sends) {
  std::vector<SpreadGroup const*> groups;
  for (SpreadGroup const& g : s.groups)
    if (g.of_grid == of_grid && g.problem.sends == sends) groups.push_back(&g);
  return groups;
}

// A row a way to run, a column a group.
std::string rates(std::vector<SpreadGroup const*> const& groups) {
  std::vector<std::string> names;
  auto by_cells = groups;  // the one with most of them tells their order
  std::sort(by_cells.begin(), by_cells.end(), [](SpreadGroup const* a, SpreadGroup const* b) {
    return a->cells.size() > b->cells.size();
  });
  for (SpreadGroup const* const g : by_cells)
    for (SpreadCell const& c : g->cells)
      if (c.absent.empty() && std::find(names.begin(), names.end(), c.name()) == names.end())
        names.push_back(c.name());
  Table t;
  std::vector<std::string> blocks{"blocks"}, points{"of points"}, bytes{"and bytes"};
  for (SpreadGroup const* const g : groups) {
    blocks.push_back(fmt::format("{0} x {0}", g->problem.blocks));
    points.push_back(fmt::format("{0} x {0}", g->problem.points));
    bytes.push_back(bytes_text(block_bytes(g->problem)));
  }
  for (auto& row : {blocks, points, bytes}) t.row(row);
  t.rule();
  for (std::string const& name : names) {
    std::vector<std::string> row{name};
    for (SpreadGroup const* const g : groups) {
      auto const cell = std::find_if(g->cells.begin(), g->cells.end(),
                                     [&](SpreadCell const& c) { return c.name() == name; });
      row.push_back(cell == g->cells.end()
                        ? ""
                        : fmt::format("{:.0f}{}", g->rate(*cell), cell->verified ? "" : " WRONG"));
    }
    t.row(row);
  }
  return t.text();
}

// The chosen spread, beside the best of all fixed configurations and beside spread 1.
std::string choices(SpreadStudy const& s, int threads) {
  Table t;
  t.row({"blocks", "of points", "sends", "chosen", "trials", "best fixed", "over best",
         "over spread 1"});
  t.rule();
  bool any = false;
  for (SpreadGroup const& g : s.groups) {
    SpreadCell const* const automatic = g.automatic();
    if (automatic == nullptr || automatic->seconds.empty()) continue;
    any = true;
    SpreadCell const* const best = g.best_fixed();
    SpreadCell const* const one = g.spread_1(threads);
    jacobi2d::Chosen const& c = automatic->chosen;
    t.row({fmt::format("{0} x {0}", g.problem.blocks), fmt::format("{0} x {0}", g.problem.points),
           g.problem.sends ? "early" : "none", fmt::format("{} of {}", c.spread, c.active),
           fmt::format("{}{}", c.trials, c.holds ? "" : ", still"),
           best == nullptr ? "" : fmt::format("{} of {}", best->spread, best->active),
           best == nullptr ? "" : percent(time_over(*automatic, *best)),
           one == nullptr ? "" : percent(time_over(*automatic, *one))});
  }
  return any ? t.text() : "";
}

// Where one block fits a cache and those of all who share it, one each, do not; or one block fits
// the private caches of a team together, but not one of them.
std::string caches(SpreadOptions const& o) {
  if (o.l2_bytes == 0 || o.l3_bytes == 0) return "";
  auto const l2 = static_cast<double>(o.l2_bytes), l3 = static_cast<double>(o.l3_bytes);
  std::string text = fmt::format("L2 {}, L3 {}.\n", bytes_text(l2), bytes_text(l3));
  if (o.l3_sharers > 1)
    text += fmt::format("Between {} and {}, one block fits the L3, and {} at once do not.\n",
                        bytes_text(l3 / o.l3_sharers), bytes_text(l3), o.l3_sharers);
  if (o.l2_caches > 1)
    text += fmt::format("Between {} and {}, a block fits {} L2s, and not one.\n", bytes_text(l2),
                        bytes_text(l2 * o.l2_caches), o.l2_caches);
  return text;
}

// Block sizes at which a spread above 1, on all threads, beats spread 1.
std::string range(std::vector<SpreadGroup const*> const& groups, SpreadOptions const& o) {
  constexpr double gain = 0.98;
  std::string text;
  for (SpreadGroup const* const g : groups) {
    SpreadCell const* const one = g->spread_1(o.threads);
    if (one == nullptr) continue;
    for (SpreadCell const& c : g->cells)
      if (c.is_fixed_spread() && c.spread > 1 && c.active == o.threads && time_over(c, *one) < gain)
        text += fmt::format("  {}: spread {} takes {:.1f}% less time\n",
                            bytes_text(block_bytes(g->problem)), c.spread,
                            100 * (1 - time_over(c, *one)));
  }
  return fmt::format("{}Spread above 1 beats spread 1 by more than 2% at these block sizes:\n{}",
                     caches(o), text.empty() ? "  none\n" : text);
}

}  // namespace

std::string describe(SpreadStudy const& s, SpreadOptions const& o) {
  if (s.groups.empty()) return "";
  std::string text = fmt::format(
      "A five-point stencil on a grid of blocks, {} threads: million updates a second, median of "
      "{}\n"
      "samples, all of one column in turn; \"nigh/spread 1 of 2\": one worker a block, two at "
      "work;\n"
      "{} kernel\n",
      o.threads, o.repetitions, o.kernel->isa);
  for (bool const sends : {true, false}) {
    auto const grid = groups_of(s, true, sends);
    if (!grid.empty())
      text += fmt::format("\n{}\n\n{}",
                          sends ? "Borders are sent as soon as a block is through" : "No sends",
                          rates(grid));
  }
  if (auto const cache = groups_of(s, false, false); !cache.empty())
    text +=
        fmt::format("\nBlocks around the caches' sizes: {} time steps a visit, no sends\n\n{}\n{}",
                    cache.front()->problem.steps, rates(cache), range(cache, o));
  if (std::string const chosen = choices(s, o.threads); !chosen.empty())
    text += fmt::format(
        "\nnigh/auto after its trials: time over that of the best fixed configuration and of "
        "spread 1\n"
        "on all threads, medians of the ratios sample by sample\n\n{}",
        chosen);
  for (jacobi2d::VariantInfo const* const v : o.variants)
    if (v->make == nullptr) text += fmt::format("absent: {}: {}\n", v->name, v->why_absent);
  for (std::string const& what : o.left_out) text += fmt::format("left out: {}\n", what);
  return text;
}

std::vector<Result> results(SpreadStudy const& s, SpreadOptions const& o) {
  std::vector<Result> all;
  for (SpreadGroup const& g : s.groups)
    for (SpreadCell const& c : g.cells) {
      Problem const& p = g.problem;
      Result r;
      r.bench = g.of_grid ? "spread/grid" : "spread/cache";
      r.variant = c.variant->name;
      r.params = {{"blocks", static_cast<long>(p.blocks)},
                  {"points", static_cast<long>(p.points)},
                  {"block_bytes", static_cast<long>(block_bytes(p))},
                  {"iterations", static_cast<long>(p.iterations)},
                  {"steps", static_cast<long>(p.steps)},
                  {"sends", std::string(p.sends ? "early" : "none")},
                  {"threads", static_cast<long>(o.threads)},
                  {"isa", std::string(o.kernel->isa)}};
      if (c.spread > 0) r.params["spread"] = static_cast<long>(c.spread);
      if (c.active > 0) r.params["active"] = static_cast<long>(c.active);
      if (c.variant->by_rows) r.params["rows"] = to_string(c.rows);
      r.metric = "rate";
      r.unit = "MLUP/s";
      for (double const t : c.seconds) r.samples.push_back(p.updates() / t / 1e6);
      r.verified = c.verified;
      r.absent = c.absent;
      r.counters = {{"seconds", median_of(c.seconds)}};
      if (c.chooses()) {
        r.counters["chosen_spread"] = static_cast<long>(c.chosen.spread);
        r.counters["chosen_active"] = static_cast<long>(c.chosen.active);
        r.counters["trials"] = static_cast<long>(c.chosen.trials);
        r.counters["iterations_to_hold"] = static_cast<long>(c.iterations_to_hold);
        if (SpreadCell const* best = g.best_fixed()) {
          r.counters["best_spread"] = static_cast<long>(best->spread);
          r.counters["best_active"] = static_cast<long>(best->active);
          r.counters["time_over_best"] = time_over(c, *best);
        }
      }
      if (SpreadCell const* one = g.spread_1(o.threads); one != nullptr && !c.seconds.empty())
        r.counters["time_over_spread_1"] = time_over(c, *one);
      all.push_back(std::move(r));
    }
  return all;
}

}  // namespace bench
