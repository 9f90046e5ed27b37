// SPDX-License-Identifier: Apache-2.0
// Runtimes of all shapes under random load: does every task run once, whatever the domains, queue
// sizes, limits, spawners and moments of sleep?

#include <atomic>
#include <chrono>
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
                          "pack:2 numa:2 core:2 pu:2", "pack:3 numa:1 core:1 pu:1"})
      list.push_back(nigh::topology::from_synthetic(d).value());
    return list;
  }();
  return machines[which % machines.size()];
}

struct Load {
  nigh::runtime& runtime;
  int domains;
  bool throws;
  std::atomic<std::uint64_t> ran{0}, spawned{0};

  void spawn(std::uint64_t seed, int depth) {
    spawned.fetch_add(1, std::memory_order_relaxed);
    Random random(seed);
    auto const d = static_cast<int>(below(random, static_cast<std::uint64_t>(domains) + 1)) - 1;
    runtime.spawn(nigh::near(d), [this, seed, depth] { run(seed, depth); });
  }

  void run(std::uint64_t seed, int depth) {
    ran.fetch_add(1, std::memory_order_relaxed);
    Random random(seed);
    if (below(random, 50) == 0) std::this_thread::yield();
    if (below(random, 400) == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (depth > 0)
      for (std::uint64_t children = below(random, 4); children > 0; --children)
        spawn(random(), depth - 1);
    if (throws && below(random, 100) == 0) throw std::runtime_error("as arranged");
  }
};

// One runtime, used for some bursts, from several threads at once, with pauses in which it sleeps.
void play_round(std::uint64_t seed, std::uint64_t scale) {
  Random random(seed);
  auto const& machine = some_machine(below(random, 5));
  nigh::runtime runtime({
      .machine = &machine,
      .workers = static_cast<int>(below(random, machine.cpus().size()) + 1),
      .order = below(random, 2) == 0 ? nigh::cpu_order::compact : nigh::cpu_order::scatter,
      .mode = below(random, 3) == 0 ? nigh::locality::strict : nigh::locality::prefer,
      .queue_capacity = std::size_t{1} << below(random, 10),
      .pending_limit = below(random, 4) == 0 ? below(random, 300) + 1 : 0,
  });
  Load load{runtime, static_cast<int>(machine.domains().size()), below(random, 2) == 0};
  for (std::uint64_t burst = below(random, 4) + 1; burst > 0; --burst) {
    std::vector<std::jthread> spawners;
    for (std::uint64_t s = below(random, 3) + 1; s > 0; --s)
      spawners.emplace_back([&load, seed = random(), scale] {
        Random mine(seed);
        for (auto n = below(mine, 200 * scale); n > 0; --n) load.spawn(mine(), 5);
      });
    spawners.clear();
    try {
      runtime.wait();
    } catch (std::runtime_error const&) {
      if (!load.throws) throw;
    }
    if (load.ran != load.spawned)
      throw std::logic_error(std::to_string(load.ran) + " tasks ran of " +
                             std::to_string(load.spawned) + " spawned");
    std::this_thread::sleep_for(std::chrono::microseconds(below(random, 300)));
  }
}

}  // namespace

int main(int argc, char** argv) { return stress::play_leased(argc, argv, 20, play_round); }
