// SPDX-License-Identifier: Apache-2.0
#include "bench/calibrate/steal_levels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <nigh/runtime.hpp>
#include <stdexcept>

#include "bench/cache_line.hpp"
#include "bench/crew.hpp"
#include "bench/one_steal.hpp"
#include "bench/statistics.hpp"

namespace bench {

namespace {

// Seconds that one cpu takes to copy what the other one has just written, `bytes` at a time.
Samples time_copies(int owner, int thief, std::size_t bytes, int samples) {
  std::vector<char> written(bytes), copy(bytes);
  alignas(64) std::atomic<int> turn{0};  // even: the owner writes
  Samples times;
  Crew crew({owner, thief});
  crew.run([&](int thread) {
    for (int s = -1; s < samples; ++s) {  // the first one warms up
      int const mine = 2 * (s + 1) + thread;
      while (turn.load(std::memory_order_acquire) != mine) {
      }
      if (thread == 0) {
        std::memset(written.data(), s + 1, bytes);
      } else {
        auto const start = std::chrono::steady_clock::now();
        std::memcpy(copy.data(), written.data(), bytes);
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
        if (s >= 0) times.push_back(passed.count());
      }
      turn.store(mine + 1, std::memory_order_release);
    }
  });
  return times;
}

}  // namespace

std::vector<StealLevel> steal_levels(nigh::topology const& machine) {
  using nigh::level;
  std::vector<StealLevel> found;
  std::size_t inner = 1;
  for (level l : {level::core, level::l2, level::l3, level::domain, level::package, level::host}) {
    auto const groups = machine.groups(l);
    auto const size = groups.front().size();
    bool const is_regular = std::all_of(groups.begin(), groups.end(),
                                        [&](auto const& group) { return group.size() == size; });
    if (!is_regular || size % inner != 0) continue;
    if (size > inner)
      found.push_back(
          {l, {}, static_cast<int>(size), groups.front().front(), groups.front().back()});
    else if (!found.empty())
      found.back().same.push_back(l);
    inner = size;
  }
  return found;
}

StealCosts measure_steals(nigh::topology const& machine, StealLevel const& level, int repetitions) {
  constexpr int each = 20;
  constexpr std::size_t copied_bytes = 32 << 10;  // in the cache of who wrote it
  std::array<int, 2> const pair{level.owner, level.thief};
  auto const two = machine.restricted_to(pair);
  if (!two) throw std::runtime_error(two.message());
  StealCosts costs;
  nigh::runtime runtime({.machine = &*two});
  for (int n = -1; n < repetitions; ++n) {  // the first one warms up
    auto const line = median_of(time_cache_line({pair.begin(), pair.end()}, each));
    auto const steal = median_of(time_steals(runtime, each));
    auto const copy = median_of(time_copies(level.owner, level.thief, copied_bytes, each));
    if (n < 0) continue;
    costs.line.push_back(line);
    costs.steal.push_back(steal);
    costs.gb_per_s.push_back(static_cast<double>(copied_bytes) / copy * 1e-9);
  }
  return costs;
}

}  // namespace bench
