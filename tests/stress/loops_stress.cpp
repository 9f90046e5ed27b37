// SPDX-License-Identifier: Apache-2.0
// Loops of all schedules, sizes and depths on runtimes of all shapes, from workers and from outside
// threads at once, some left early or ended by an exception: does every iteration run once?

#include <atomic>
#include <chrono>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/runtime.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "restless_leases.hpp"

namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

nigh::topology const& some_machine(std::size_t which) {
  static std::vector<nigh::topology> const machines = [] {
    std::vector<nigh::topology> list;
    for (char const* d : {"numa:1 core:1 pu:1", "numa:1 core:2 pu:1", "pack:4 numa:1 core:2 pu:1",
                          "pack:2 numa:2 core:2 pu:2", "pack:2 numa:1 core:20 pu:1"})
      list.push_back(nigh::topology::from_synthetic(d).value());
    return list;
  }();
  return machines[which % machines.size()];
}

nigh::schedule some_schedule(Random& random, nigh::array<int> const& placed) {
  std::size_t const chunk = below(random, 20) + 1;
  switch (below(random, 7)) {
    case 0:
      return nigh::static_schedule();
    case 1:
      return nigh::static_schedule(chunk);
    case 2:
      return nigh::dynamic_schedule(chunk);
    case 3:
      return nigh::guided_schedule(chunk);
    case 4:
      return nigh::adaptive_schedule();
    case 5:
      return nigh::local_schedule();
    default:
      return nigh::local_schedule(placed, below(random, 100) + 1);
  }
}

struct Load {
  nigh::runtime& runtime;
  nigh::array<int> const& placed;

  void hold_up(Random& random) const {
    if (below(random, 300) == 0) std::this_thread::yield();
    if (below(random, 3000) == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  // Some iterations run a loop of their own.
  void loop(std::uint64_t seed, int depth) const {
    Random random(seed);
    auto const n = below(random, depth == 0 ? 300 : 60);
    nigh::loop_options options;
    options.how = some_schedule(random, placed);
    options.where = &runtime;
    options.grain = below(random, 3);
    std::vector<std::atomic<int>> runs(n);
    auto const way = below(random, 12);
    std::uint64_t const end_at = n == 0 ? 0 : below(random, n);
    auto const body = [&](std::uint64_t i) {
      Random mine(seed + i);
      runs[i].fetch_add(1, std::memory_order_relaxed);
      hold_up(mine);
      if (depth > 0 && below(mine, 4) == 0) loop(mine(), depth - 1);
      if (way == 0 && i == end_at) throw std::runtime_error("as arranged");
      return way == 1 && i == end_at ? nigh::loop_flow::leave : nigh::loop_flow::go_on;
    };
    bool thrown = false;
    try {
      nigh::parallel_for(std::uint64_t{0}, n, body, options);
    } catch (std::runtime_error const& e) {
      thrown = std::string(e.what()) == "as arranged";
      if (!thrown) throw;
    }
    if (way == 0 && n > 0 && !thrown) throw std::logic_error("an exception was lost");
    for (auto const& r : runs)
      if (r > 1 || (r == 0 && way > 1))
        throw std::logic_error("an iteration of " + std::to_string(n) + " with " +
                               nigh::to_string(*options.how) + " ran " + std::to_string(r) +
                               " times");
  }
};

void play_round(std::uint64_t seed, std::uint64_t scale) {
  Random random(seed);
  auto const& machine = some_machine(below(random, 5));
  nigh::runtime runtime({
      .machine = &machine,
      .workers = static_cast<int>(below(random, machine.cpus().size()) + 1),
      .order = below(random, 2) == 0 ? nigh::cpu_order::compact : nigh::cpu_order::scatter,
      .task_capacity = below(random, 3) == 0 ? below(random, 8) + 1 : 8192,
      .depth_cutoff = below(random, 6) == 0 ? 3 : 0,
  });
  nigh::array_options where;
  where.machine = &machine;
  nigh::array<int> const placed(
      1000 + below(random, 20'000),
      below(random, 2) == 0 ? nigh::placement::blocked() : nigh::placement::cyclic(1024), where);
  Load const load{runtime, placed};
  std::vector<std::jthread> callers;
  std::atomic<bool> failed{false};
  std::exception_ptr why;
  for (std::uint64_t c = below(random, 3) + 1; c > 0; --c)
    callers.emplace_back([&, from = random()] {
      Random mine(from);
      try {
        for (auto n = below(mine, 20 * scale) + 1; n > 0 && !failed; --n) load.loop(mine(), 2);
      } catch (...) {
        if (!failed.exchange(true)) why = std::current_exception();
      }
    });
  callers.clear();
  if (why) std::rethrow_exception(why);
}

}  // namespace

int main(int argc, char** argv) { return stress::play_leased(argc, argv, 20, play_round); }
