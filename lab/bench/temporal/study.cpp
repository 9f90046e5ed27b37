// SPDX-License-Identifier: Apache-2.0
// The limit of the cores alone: the update of tiles, without tiles.

#include "bench/temporal/study.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <nigh/array.hpp>
#include <nigh/stencil.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "bench/jacobi3d/problem.hpp"
#include "bench/pinned_threads.hpp"
#include "bench/probes.hpp"
#include "bench/statistics.hpp"
#include "jacobi3d/kernel.hpp"
#include "platform/progress.hpp"

namespace bench {

namespace {

// Two steps of a tile, the second one row back and one plane up. Before them comes a piece of no
// rows in the same planes: what follows another piece is in a cache.
constexpr jacobi3d::Extent most{600, 5, 9};
constexpr int box_steps = 1000;  // some 5 ms

nigh::array<double> filled(jacobi3d::Grid const& grid) {
  nigh::array<double> field(grid.elements());
  jacobi3d::fill_planes(grid, field.data(), -1, grid.interior.k + 1);
  return field;
}

// MLUP/s of all threads together, each updating a box of its own (four rows in eight planes, 0.75
// MB in two copies), which stays in its core's caches; two steps, at once where tiles do that.
double cached_update_rate(JacobiOptions const& o, PinnedThreads& pinned) {
  jacobi3d::Grid const grid({std::min(o.grid.i, most.i), most.j, most.k});
  auto const [ni, nj, nk] = grid.interior;
  jacobi3d::Extent const updated{ni, nj - 1, nk - 1};
  jacobi3d::Box const first{{0, 1, 0}, {ni, nj, nk - 1}}, second{{0, 0, 1}, {ni, nj - 1, nk}};
  jacobi3d::Box const none{{0, 1, 0}, {ni, 1, nk}};
  std::vector<double> seconds(static_cast<std::size_t>(pinned.size()));
  pinned.run([&](int thread) {
    auto a = filled(grid), b = filled(grid);
    std::array<jacobi3d::TilePiece, 3> const pieces{
        {{b.data(), a.data(), none}, {a.data(), b.data(), first}, {b.data(), a.data(), second}}};
    auto start = std::chrono::steady_clock::now();
    for (int n = -box_steps / 10; n < box_steps; n += 2) {
      if (n == 0) start = std::chrono::steady_clock::now();  // all begin about now
      o.kernel.sweep_in_tile(grid, pieces.data(), std::ssize(pieces), o.kernel.together);
    }
    seconds[static_cast<std::size_t>(thread)] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  double rate = 0;
  for (double const s : seconds) rate += static_cast<double>(updated.sites()) * box_steps / s / 1e6;
  return rate;
}

// Solid bricks in the grid: their sites keep their values, and cost nothing. They lie in the first
// half of the planes, so that equal shares of planes are unequal work.

using jacobi3d::Box;
using jacobi3d::Extent;
using jacobi3d::Grid;

struct Brick {  // of whole rows
  std::ptrdiff_t k0, k1, j0, j1;
};

// Kernels are plain functions, so what they go around is the process's.
struct {
  jacobi3d::BlockSweep sweep = nullptr;
  jacobi3d::TileSweep in_tile = nullptr;
  std::vector<Brick> bricks;
  double free = 1;
} world;

// f(part) of the box, for the parts of it that are in none of the bricks from n on.
template <class F>
void for_each_free(Box const& box, F const& f, std::size_t n = 0) noexcept {
  if (box.lo.k >= box.hi.k || box.lo.j >= box.hi.j) return;
  for (; n < world.bricks.size(); ++n) {
    Brick const& b = world.bricks[n];
    auto const k0 = std::max(b.k0, box.lo.k), k1 = std::min(b.k1, box.hi.k);
    auto const j0 = std::max(b.j0, box.lo.j), j1 = std::min(b.j1, box.hi.j);
    if (k0 >= k1 || j0 >= j1) continue;
    auto const rest = [&](std::ptrdiff_t from_k, std::ptrdiff_t to_k, std::ptrdiff_t from_j,
                          std::ptrdiff_t to_j) {
      for_each_free({{box.lo.i, from_j, from_k}, {box.hi.i, to_j, to_k}}, f, n + 1);
    };
    rest(box.lo.k, k0, box.lo.j, box.hi.j);
    rest(k1, box.hi.k, box.lo.j, box.hi.j);
    rest(k0, k1, box.lo.j, j0);
    rest(k0, k1, j1, box.hi.j);
    return;
  }
  f(box);
}

// Pieces between two that a brick cuts go to the kernel together, the parts of those one by one.
void sweep_free_in_tile(Grid const& grid, jacobi3d::TilePiece const* pieces, std::ptrdiff_t count,
                        std::ptrdiff_t together) noexcept {
  std::ptrdiff_t done = 0;
  for (std::ptrdiff_t n = 0; n < count; ++n) {
    auto const& p = pieces[n];
    bool whole = false;
    for_each_free(p.box, [&](Box const& part) { whole = part == p.box; });
    if (whole) continue;
    if (n > done) world.in_tile(grid, pieces + done, n - done, together);
    for_each_free(p.box, [&](Box const& part) {
      jacobi3d::TilePiece const one{p.from, p.to, part};
      world.in_tile(grid, &one, 1, together);
    });
    done = n + 1;
  }
  if (count > done) world.in_tile(grid, pieces + done, count - done, together);
}

// The same kernel that leaves these bricks out; for one grid at a time.
jacobi3d::Kernel around_obstacles(jacobi3d::Kernel const& kernel, Extent const& grid) {
  world.sweep = kernel.sweep_block;
  world.in_tile = kernel.sweep_in_tile;
  world.bricks.clear();
  double solid = 0;
  // Four by two of them: half of the planes, and there three quarters of the rows.
  constexpr std::ptrdiff_t along_k = 4, along_j = 2;
  for (std::ptrdiff_t a = 0; a < along_k; ++a)
    for (std::ptrdiff_t b = 0; b < along_j; ++b) {
      auto const k0 = grid.k * a / (2 * along_k), k1 = grid.k * (a + 1) / (2 * along_k);
      auto const j0 = grid.j * b / along_j, j1 = j0 + grid.j * 3 / (4 * along_j);
      world.bricks.push_back({k0, k1, j0, j1});
      solid += static_cast<double>((k1 - k0) * (j1 - j0));
    }
  world.free = 1 - solid / static_cast<double>(grid.k * grid.j);
  jacobi3d::Kernel around = kernel;
  around.sweep_block = [](Grid const& g, double const* from, double* to, Box const& box) noexcept {
    for_each_free(box, [&](Box const& part) { world.sweep(g, from, to, part); });
  };
  around.sweep_in_tile = sweep_free_in_tile;
  return around;
}

// of all sites
double free_share() { return world.free; }

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

  PinnedThreads pinned(o.team.cpus);
  Problem problem(o, jacobi3d::Init::contiguous, pinned);
  std::map<std::string, std::unique_ptr<jacobi3d::Variant>> alive;
  std::map<bool, std::uint64_t> expected;
  nigh::platform::Progress progress(static_cast<int>(study.cells.size()) * o.repetitions);
  auto distance = cpu_distance(o.team.cpus);
  for (int repetition = 0; repetition < o.repetitions; ++repetition) {
    study.cached_rates.push_back(cached_update_rate(o, pinned));
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
          seconds_to_copy(pinned, problem.first(), problem.second(), problem.elements(), stores));
      // Sites that nobody computes are the same in both copies.
      problem.refill();
      seconds_to_copy(pinned, problem.first(), problem.second(), problem.elements(), Stores::plain);
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
