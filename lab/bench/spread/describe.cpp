// SPDX-License-Identifier: Apache-2.0
// The study as tables for people, and as results for scripts.
#include <fmt/core.h>

#include <algorithm>

#include "bench/spread/study.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

using jacobi2d::Problem;

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
