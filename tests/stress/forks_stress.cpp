// SPDX-License-Identifier: Apache-2.0
// Random trees of forks, child and typed tasks, scopes, queued tasks, exceptions, blocking and
// visits to a second runtime, on runtimes of all shapes, from workers and from several threads
// outside at once: is every leaf counted once, and every exception where it belongs?

#include <atomic>
#include <chrono>
#include <nigh/blocking_scope.hpp>
#include <nigh/child_task.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/task_scope.hpp>
#include <nigh/typed_task.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "restless_leases.hpp"

namespace {

using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

nigh::topology const& some_machine(std::uint64_t which) {
  static std::vector<nigh::topology> const machines = [] {
    std::vector<nigh::topology> list;
    for (char const* d : {"numa:1 core:1 pu:1", "numa:1 core:2 pu:1", "pack:2 numa:1 core:3 pu:1",
                          "pack:2 numa:2 core:2 pu:2"})
      list.push_back(nigh::topology::from_synthetic(d).value());
    return list;
  }();
  return machines[which % machines.size()];
}

struct Arranged : std::runtime_error {
  Arranged() : std::runtime_error("as arranged") {}
};

template <class Child>
char call_one(nigh::task_context&, Child const* child, std::size_t c) {
  (*child)(c);
  return 0;
}

// The sum over a tree from this seed, each node as itself; the same whichever threads walk it.
struct Tree {
  int domains;
  nigh::runtime* second;  // where an external thread walks some branches

  std::uint64_t serial(std::uint64_t seed, int depth) const {
    Random random(seed);
    auto const children = depth == 0 ? 0 : below(random, 5);
    std::uint64_t sum = 1;
    for (std::uint64_t c = 0; c < children; ++c) sum += serial(random(), depth - 1);
    return sum;
  }

  std::uint64_t parallel(std::uint64_t seed, int depth) const {
    Random random(seed);
    auto const children = depth == 0 ? 0 : below(random, 5);
    std::vector<std::uint64_t> seeds, sums(children, 0);
    for (std::uint64_t c = 0; c < children; ++c) seeds.push_back(random());
    auto const child = [&](std::size_t c) { sums[c] = parallel(seeds[c], depth - 1); };
    walk(random, children, child);
    std::uint64_t sum = 1;
    for (auto s : sums) sum += s;
    return sum;
  }

 private:
  // Calls child(0 .. n-1), in one of the ways there are.
  template <class Child>
  void walk(Random& random, std::uint64_t n, Child const& child) const {
    auto const way = below(random, 20);
    if (below(random, 300) == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (n == 2 && way < 10) {
      nigh::fork_join([&] { child(0); }, [&] { child(1); });
    } else if (n == 3 && way < 10) {
      nigh::fork_join([&] { child(0); }, [&] { child(1); }, [&] { child(2); });
    } else if (n == 2 && way < 13) {
      nigh::child_task second_half([&] { child(1); });
      child(0);
      second_half.join();
    } else if (n == 2 && way < 16) {
      auto& at = nigh::this_task_context();
      nigh::typed_task<call_one<Child>> second_half(at, &child, std::size_t{1});
      child(0);
      second_half.join(at);
    } else if (way == 16) {
      ended_by_exception(n, child);
    } else if (way == 17 && second != nullptr) {
      second->invoke([&] { in_scope(random, n, child); });
    } else if (way == 19) {
      nigh::blocking_scope const blocking;
      std::this_thread::yield();
      in_scope(random, n, child);
    } else {
      in_scope(random, n, child);
    }
  }

  // The scope runs its tasks while an exception passes by.
  template <class Child>
  static void ended_by_exception(std::uint64_t n, Child const& child) {
    try {
      nigh::task_scope scope;
      for (std::uint64_t c = 0; c < n; ++c) scope.spawn([&child, c] { child(c); });
      throw Arranged();
    } catch (Arranged const&) {
    }
  }

  template <class Child>
  void in_scope(Random& random, std::uint64_t n, Child const& child) const {
    bool const throws = below(random, 8) == 0, queued = below(random, 4) == 0;
    nigh::task_scope scope;
    for (std::uint64_t c = 0; c < n; ++c) {
      auto const body = [&child, c, throws] {
        child(c);
        if (throws) throw Arranged();
      };
      if (queued) {
        auto const places = static_cast<std::uint64_t>(domains) + 1;
        scope.spawn(nigh::near(static_cast<int>(below(random, places)) - 1), body);
      } else {
        scope.spawn(body);
      }
    }
    bool caught = false;
    try {
      scope.wait();
    } catch (Arranged const&) {
      caught = true;
    }
    if (caught != (throws && n > 0)) throw std::logic_error("an exception was lost or invented");
  }
};

void play_round(std::uint64_t seed, std::uint64_t scale) {
  Random random(seed);
  auto const& machine = some_machine(below(random, 4));
  using nigh::victim_choice;
  victim_choice const victims[] = {victim_choice::random, victim_choice::ring,
                                   victim_choice::hierarchical};
  nigh::chunk_choice const chunks[] = {nigh::chunk_choice::one, nigh::chunk_choice::half,
                                       nigh::chunk_choice::hierarchical};
  nigh::runtime runtime({
      .machine = &machine,
      .workers = static_cast<int>(below(random, machine.cpus().size()) + 1),
      .mode = below(random, 3) == 0 ? nigh::locality::strict : nigh::locality::prefer,
      .queue_capacity = std::size_t{1} << below(random, 8),
      .task_capacity = below(random, 3) == 0 ? below(random, 20) + 1 : 1000,
      .thread_stack_bytes = std::size_t{1} << (22 + below(random, 4)),
      .victims = victims[below(random, 3)],
      .chunks = chunks[below(random, 3)],
      .depth_cutoff = below(random, 4) == 0 ? static_cast<int>(below(random, 8)) : 0,
      .queue_cutoff = below(random, 4) == 0 ? static_cast<int>(below(random, 8)) : 0,
      .count_tasks = below(random, 3) == 0,
  });
  nigh::runtime second({.machine = &machine, .workers = 1});
  Tree const tree{static_cast<int>(machine.domains().size()),
                  below(random, 2) == 0 ? &second : nullptr};
  std::atomic<int> wrong{0};
  auto const plant = [&](std::uint64_t tree_seed) {
    if (tree.parallel(tree_seed, 7) != tree.serial(tree_seed, 7)) ++wrong;
  };
  std::vector<std::jthread> users;
  for (auto n = below(random, 4) + 1; n > 0; --n)
    users.emplace_back([&, seed = random(), as_guest = below(random, 2) == 0] {
      Random mine(seed);
      for (auto trees = 3 * scale; trees > 0; --trees) {
        auto const tree_seed = mine();
        if (as_guest)
          runtime.invoke([&] { plant(tree_seed); });
        else
          runtime.spawn([&plant, tree_seed] { plant(tree_seed); });
        if (below(mine, 3) == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(below(mine, 3000)));
      }
    });
  users.clear();
  runtime.wait();
  if (wrong > 0) throw std::logic_error(std::to_string(wrong) + " trees came out wrong");
}

}  // namespace

int main(int argc, char** argv) { return stress::play_leased(argc, argv, 20, play_round); }
