// SPDX-License-Identifier: Apache-2.0
// Features: loops and what is made of them.
#include <algorithm>
#include <functional>
#include <nigh/array.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/parallel_scan.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/spread.hpp>
#include <nigh/task_loop.hpp>
#include <nigh/time_grid.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "features.hpp"

namespace user {
namespace {

constexpr std::size_t length = 2000;

// Each loop reads what the one before has written, cut in another way, after a write by the caller.
bool loop_after_loop(nigh::schedule const& even, nigh::schedule const& odd) {
  std::vector<long> v(length, 1);
  for (int step = 0; step < 10; ++step) {
    meeting some;
    std::vector<long> next(length);
    nigh::parallel_for(
        std::size_t{0}, length,
        [&](std::size_t i) {
          if (i == 0 || i == length / 2) {
            some.come();
            some.await(2, std::chrono::milliseconds(200));
          }
          next[i] = v[length - 1 - i] + 1;
        },
        step % 2 == 0 ? even : odd);
    v.swap(next);
    v[0] += 1;
  }
  return std::accumulate(v.begin(), v.end(), 0L) == 11 * static_cast<long>(length) + 10;
}
bool static_loops() { return loop_after_loop(nigh::static_schedule(), nigh::static_schedule(7)); }
bool dynamic_loops() { return loop_after_loop(nigh::dynamic_schedule(3), nigh::guided_schedule()); }
bool adaptive_loops() { return loop_after_loop(nigh::adaptive_schedule(), nigh::dynamic_schedule(50)); }

bool nested_loops() {
  std::vector<std::vector<int>> rows(20, std::vector<int>(100));
  nigh::parallel_for(0, 20, [&](int r) {
    auto& row = rows[static_cast<std::size_t>(r)];
    nigh::parallel_for(0, 100, [&](int i) { row[static_cast<std::size_t>(i)] = r; });
    row[0] += std::accumulate(row.begin(), row.end(), 0);
  });
  return rows[19][0] == 19 * 101;
}

bool loop_of_a_box() {
  std::vector<int> v(40 * 50);
  nigh::parallel_for(nigh::box<2>{{0, 0}, {40, 50}}, [&](std::size_t i, std::size_t j) { v[i * 50 + j] = 1; });
  return std::accumulate(v.begin(), v.end(), 0) == 2000;
}

bool loop_of_blocks() {
  nigh::array<double> a(100'000, nigh::placement::blocked());
  nigh::parallel_for(nigh::blocks_of(a), [](std::span<double> block, std::size_t) {
    for (double& x : block) x = 1;
  });
  return std::accumulate(a.begin(), a.end(), 0.0) == 100'000;
}

bool loop_exception() {
  try {
    nigh::parallel_for(0, 1000, [](int i) {
      if (i > 400) throw std::runtime_error("in iteration " + std::to_string(i));
    });
  } catch (std::runtime_error const& e) {
    return std::string(e.what()).starts_with("in iteration");
  }
  return false;
}

bool loop_left_early() {
  std::vector<int> seen(length);
  nigh::parallel_for(std::size_t{0}, length, [&](std::size_t i) {
    seen[i] = 1;
    return i == length / 3 ? nigh::loop_flow::leave : nigh::loop_flow::go_on;
  });
  return std::accumulate(seen.begin(), seen.end(), 0) > 0;
}

bool reduction(nigh::reduction order) {
  std::vector<int> v(length, 2);
  nigh::reduce_options options;
  options.order = order;
  auto const histogram = nigh::parallel_reduce(
      std::size_t{0}, length, std::vector<long>(4),
      [&](std::size_t i, std::vector<long> counts) {
        counts[i % 4] += v[i];
        return counts;
      },
      [](std::vector<long> a, std::vector<long> const& b) {
        for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
        return a;
      },
      options);
  v[0] = 0;
  return histogram == std::vector<long>(4, length / 2);
}
bool reduce() { return reduction(nigh::reduction::as_it_comes); }
bool reduce_in_order() { return reduction(nigh::reduction::deterministic); }

bool scan() {
  std::vector<long> in(50'000, 1), out(in.size());
  nigh::parallel_inclusive_scan(std::span<long>(in), std::span<long>(out), 0L, std::plus<>());
  return out.back() == static_cast<long>(in.size());
}

bool sort() {
  std::vector<unsigned> v(20'000);
  unsigned x = 1;
  for (auto& e : v) e = x = x * 1664525u + 1013904223u;
  nigh::parallel_sort(v.begin(), v.end());
  return std::is_sorted(v.begin(), v.end());
}

bool stable_sort() {
  std::vector<std::string> v(9'000);
  unsigned x = 1;
  for (auto& e : v) e = "a key that lies on the heap " + std::to_string((x = x * 1664525u + 1013904223u) >> 16);
  nigh::parallel_stable_sort(v.begin(), v.end());
  return std::is_sorted(v.begin(), v.end());
}

bool teams(int spread) {
  constexpr std::size_t blocks = 16, rows = 40;
  std::vector<long> grid(blocks * rows);
  std::vector<long> sums(blocks);
  for (int step = 0; step < 10; ++step)
    nigh::task_loop(
        blocks,
        [&](std::size_t block, nigh::team const& team) {
          for (int sweep = 0; sweep < 2; ++sweep)
            team.parallel_for(std::size_t{0}, rows, [&](std::size_t row) { ++grid[block * rows + (sweep == 0 ? row : rows - 1 - row)]; });
          sums[block] += std::accumulate(grid.begin() + static_cast<long>(block * rows), grid.begin() + static_cast<long>((block + 1) * rows), 0L);
        },
        {.spread = nigh::spread(spread)});
  return sums[3] == 40 * 110;
}
bool teams_of_one() { return teams(1); }
bool teams_of_two() { return teams(2); }

bool spread_site() {
  nigh::spread_site site;
  std::vector<long> v(64);
  for (int step = 0; step < 30; ++step)
    nigh::task_loop(64, [&](std::size_t b, nigh::team const&) { ++v[b]; }, {.site = &site});
  return std::accumulate(v.begin(), v.end(), 0L) == 64 * 30;
}

bool stencil() {
  nigh::time_grid_options<2> options;
  options.tiles.tile_width = 8;
  nigh::time_grid<double, 2> u({64, 64}, options);
  u.fill([](auto, auto) { return 1.0; });
  u.run(20, [](std::size_t, auto const& now, auto const& before, nigh::box<2> const& b) {
    for (auto j = b.begin[0]; j < b.end[0]; ++j)
      for (auto i = b.begin[1]; i < b.end[1]; ++i) {
        auto const y = static_cast<std::ptrdiff_t>(j), x = static_cast<std::ptrdiff_t>(i);
        now(y, x) = 0.25 * (before(y - 1, x) + before(y + 1, x) + before(y, x - 1) + before(y, x + 1));
      }
  });
  return u.values()(32, 32) > 0.9;
}

constexpr feature all[] = {
    {"static_loops", static_loops},       {"dynamic_loops", dynamic_loops},   {"adaptive_loops", adaptive_loops},
    {"nested_loops", nested_loops},       {"loop_of_a_box", loop_of_a_box},   {"loop_of_blocks", loop_of_blocks},
    {"loop_exception", loop_exception},   {"loop_left_early", loop_left_early}, {"reduce", reduce},
    {"reduce_in_order", reduce_in_order}, {"scan", scan},                     {"sort", sort},
    {"stable_sort", stable_sort},         {"teams_of_one", teams_of_one},     {"teams_of_two", teams_of_two},
    {"spread_site", spread_site},         {"stencil", stencil},
};

}  // namespace

std::span<feature const> loop_features() { return all; }

}  // namespace user
