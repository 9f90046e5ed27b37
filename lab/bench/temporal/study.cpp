// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/study.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <nigh/stencil.hpp>
#include <thread>
#include <utility>

#include "bench/cache_line.hpp"
#include "bench/crew.hpp"
#include "bench/jacobi3d/problem.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"
#include "bench/stream.hpp"
#include "bench/temporal/cached_update.hpp"
#include "bench/temporal/obstacles.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

nigh::stencil<3> stencil_of(JacobiOptions const& o, int width, nigh::runtime& where) {
  auto const size = [](std::ptrdiff_t n) { return static_cast<std::size_t>(n); };
  return nigh::stencil<3>({.points = {size(o.grid.k), size(o.grid.j), size(o.grid.i)}},
                          {.tile_width = static_cast<std::size_t>(width), .where = &where});
}

// The library's plan for a contestant's tiles, and the bytes that memory moves: a tile reads
// both copies of its planes and those next to it, and writes both, once for width^2 / 2 updates of
// each row. A sweep reads one and writes the other, which plain stores read first.
void describe_tiles(TemporalCell& cell, Contestant const& c, JacobiOptions const& o) {
  cell.bytes_per_update = 3 * sizeof(double);
  if (!c.tiles) return;
  nigh::runtime plain({.machine = &o.machine, .workers = o.team.threads()});
  auto const plan = stencil_of(o, c.width, plain).plan();
  cell.chosen = c.width == 0;
  if (!plan.in_tiles) return;
  auto const w = static_cast<double>(plan.width);
  cell.width = static_cast<int>(plan.width);
  cell.window_kib = static_cast<double>(plan.window_bytes) / 1024;
  cell.bytes_per_update = sizeof(double) * (2 * (w + 2) + 2 * w) / (w * w / 2);
}

double cpu_distance(std::vector<int> const& cpus) { return median_of(time_cache_line(cpus, 9)); }

// The whole machinery, and updates that do nothing.
double empty_tile_us(JacobiOptions const& o) {
  nigh::runtime runtime({.machine = &o.machine, .workers = o.team.threads()});
  constexpr std::size_t planes = 512, width = 8, steps = 800;
  nigh::stencil<3> s({.points = {planes, 1, 1}}, {.tile_width = width, .where = &runtime});
  std::vector<double> samples;
  for (int n = 0; n < 11; ++n) {
    auto const start = Clock::now();
    s.run(steps, [](std::size_t, nigh::box<3> const&) {});
    constexpr double tiles = planes / width * (steps / (width / 2.0));
    samples.push_back(seconds_since(start) * 1e6 * o.team.threads() / tiles);
  }
  return median_of(samples);
}

}  // namespace

TemporalStudy study(TemporalOptions const& all) {
  JacobiOptions const& o = *all.solver;
  auto const list = contestants(all);
  TemporalStudy study;
  study.streaming_copy = streaming_copy_available();
  auto const stores = study.streaming_copy ? Stores::streaming : Stores::plain;
  for (bool const obstacles : all.obstacles)
    for (Contestant const& c : list) {
      TemporalCell cell;
      cell.name = c.name;
      cell.why_absent = c.why_absent;
      cell.obstacles = obstacles;
      if (c.make != nullptr) describe_tiles(cell, c, o);
      study.cells.push_back(std::move(cell));
    }

  Crew crew(o.team.cpus);
  Problem problem(o, jacobi3d::Init::contiguous, crew);
  std::map<std::string, std::unique_ptr<jacobi3d::Variant>> alive;
  std::map<bool, std::uint64_t> expected;
  Progress progress(static_cast<int>(study.cells.size()) * o.repetitions);
  auto distance = cpu_distance(o.team.cpus);
  for (int repetition = 0; repetition < o.repetitions; ++repetition) {
    study.cached_rates.push_back(cached_update_rate(o, crew));
    for (std::size_t n = 0; n < study.cells.size(); ++n) {
      TemporalCell& cell = study.cells[n];
      Contestant const& c = list[n % list.size()];
      progress.step(c.name);
      if (c.make == nullptr) continue;
      auto const kernel = cell.obstacles ? around_obstacles(o.kernel, o.grid) : o.kernel;
      double const sites =
          static_cast<double>(o.grid.sites()) * (cell.obstacles ? free_share() : 1);
      auto& variant = alive[c.name];
      if (variant == nullptr) variant = c.make(o.team);
      cell.copy_rates.push_back(
          static_cast<double>(problem.elements()) / 1e6 /
          seconds_to_copy(crew, problem.first(), problem.second(), problem.elements(), stores));
      // Sites that nobody computes are the same in both copies.
      problem.refill();
      seconds_to_copy(crew, problem.first(), problem.second(), problem.elements(), Stores::plain);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // others' threads are asleep then
      double const seconds = problem.run(*variant, kernel, all.steps, false);
      cell.rates.push_back(sites * all.steps / seconds / 1e6);
      auto const sum = problem.checksum();
      auto const found = expected.emplace(cell.obstacles, sum).first;  // plain sweeps come first
      cell.verified = cell.verified && sum == found->second;
      auto const before = std::exchange(distance, cpu_distance(o.team.cpus));
      if (before > 0) cell.cpus.push_back({before, distance});
    }
  }
  study.empty_tile_us = empty_tile_us(o);
  return study;
}

}  // namespace bench
