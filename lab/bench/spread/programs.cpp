// SPDX-License-Identifier: Apache-2.0
#include "bench/spread/programs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/progress.hpp"
#include "bench/spread/contestants.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

constexpr int most_runs_to_hold = 60;

// Spread 1 on all threads, every other one, and the choice.
std::vector<ProgramCell> cells_of(SpreadOptions const& o) {
  std::vector<ProgramCell> cells;
  for (int const active : o.actives)
    for (int const spread : o.spreads) {
      ProgramCell cell;
      cell.spread = spread, cell.active = active;
      if (spread <= active && !(spread == 1 && active == o.threads)) cells.push_back(cell);
    }
  ProgramCell one;
  one.spread = 1, one.active = o.threads;
  cells.insert(cells.begin(), one);
  cells.emplace_back();
  return cells;
}

void let_choose(Contestant& contestant, ProgramCell& cell) {
  do {
    contestant.run();
    ++cell.runs_to_hold;
  } while (!contestant.holds() && cell.runs_to_hold < most_runs_to_hold);
}

void measure(ContestProgram& program, ProgramGroup& group, SpreadOptions const& o,
             Progress& progress) {
  std::vector<std::unique_ptr<Contestant>> contestants;
  for (ProgramCell& cell : group.cells) {
    contestants.push_back(cell.chooses() ? program.make(nigh::spread::automatic, 0)
                                         : program.make(nigh::spread(cell.spread), cell.active));
    if (cell.chooses()) let_choose(*contestants.back(), cell);
  }
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      ProgramCell& cell = group.cells[c];
      progress.step(group.name);
      // The threads of the one before are asleep by then.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      cell.seconds.push_back(contestants[c]->run());
      cell.verified = cell.verified && contestants[c]->verified();
      cell.holds = contestants[c]->holds();
      cell.trials = contestants[c]->most_trials();
    }
}

double time_over(ProgramCell const& cell, ProgramCell const& other) {
  return median_of_ratios(cell.seconds, other.seconds);
}

// With the shortest median.
ProgramCell const& best_fixed(ProgramGroup const& g) {
  return *std::min_element(g.cells.begin(), g.cells.end() - 1, [](auto const& a, auto const& b) {
    return median_of(a.seconds) < median_of(b.seconds);
  });
}

std::string name_of(ProgramCell const& c) {
  return c.chooses() ? "auto" : fmt::format("{} of {}", c.spread, c.active);
}

}  // namespace

ProgramStudy study_programs(SpreadOptions const& o) {
  ProgramStudy s;
  if (!o.programs) return s;
  auto programs = contest_programs(o);
  std::vector<ProgramCell> const cells = cells_of(o);
  Progress progress(static_cast<int>(programs.size() * cells.size()) * o.repetitions);
  for (ContestProgram& program : programs) {
    s.groups.push_back({program.name, program.size, cells});
    measure(program, s.groups.back(), o, progress);
    program.make = nullptr;  // and its memory
  }
  return s;
}

std::string describe(ProgramStudy const& s, SpreadOptions const& o) {
  if (s.groups.empty()) return "";
  Table t;
  std::vector<std::string> head{"program", "size"};
  for (ProgramCell const& c : s.groups.front().cells) head.push_back(name_of(c));
  for (char const* more : {"trials", "best fixed", "over best", "over spread 1"})
    head.emplace_back(more);
  t.row(head);
  t.rule();
  for (ProgramGroup const& g : s.groups) {
    std::vector<std::string> row{g.name, g.size};
    for (ProgramCell const& c : g.cells)
      row.push_back(
          fmt::format("{:.4g}{}", median_of(c.seconds) * 1e3, c.verified ? "" : " WRONG"));
    ProgramCell const& automatic = g.cells.back();
    ProgramCell const& best = best_fixed(g);
    row.push_back(fmt::format("{}{}", automatic.trials, automatic.holds ? "" : ", still"));
    row.push_back(name_of(best));
    row.push_back(fmt::format("{:+.1f}%", 100 * (time_over(automatic, best) - 1)));
    row.push_back(fmt::format("{:+.1f}%", 100 * (time_over(automatic, g.cells.front()) - 1)));
    t.row(row);
  }
  return fmt::format(
      "{}Other programs with task loops: ms, median of {} samples in turn; every spread on every\n"
      "number of threads, and what each loop chose after its trials; its time over that of the\n"
      "best and of spread 1, medians of the ratios sample by sample\n\n{}",
      o.grid.empty() && o.cache.empty() ? "" : "\n", o.repetitions, t.text());
}

std::vector<Result> results(ProgramStudy const& s, SpreadOptions const& o) {
  std::vector<Result> all;
  for (ProgramGroup const& g : s.groups)
    for (ProgramCell const& c : g.cells) {
      Result r;
      r.bench = "spread/programs";
      r.variant = c.chooses() ? "nigh/auto" : "nigh/spread";
      r.params = {{"program", g.name},
                  {"size", g.size},
                  {"threads", static_cast<long>(o.threads)},
                  {"isa", std::string(o.kernel->isa)}};
      r.metric = "time";
      r.unit = "s";
      r.samples = c.seconds;
      r.verified = c.verified;
      r.counters["time_over_spread_1"] = time_over(c, g.cells.front());
      if (c.chooses()) {
        r.counters["trials"] = static_cast<long>(c.trials);
        r.counters["runs_to_hold"] = static_cast<long>(c.runs_to_hold);
        r.counters["time_over_best"] = time_over(c, best_fixed(g));
      } else {
        r.params["spread"] = static_cast<long>(c.spread);
        r.params["active"] = static_cast<long>(c.active);
      }
      all.push_back(std::move(r));
    }
  return all;
}

}  // namespace bench
