// SPDX-License-Identifier: Apache-2.0
#include "bench/spread/study.hpp"

#include <fmt/core.h>

#include <chrono>
#include <map>
#include <thread>

#include "bench/command.hpp"
#include "bench/pin.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "jacobi2d/run.hpp"

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

void measure(SpreadGroup& group, SpreadOptions const& o, Progress& progress) {
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
  Progress progress(steps);
  for (SpreadGroup& group : s.groups) measure(group, o, progress);
  return s;
}

}  // namespace bench
