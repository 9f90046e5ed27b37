// SPDX-License-Identifier: Apache-2.0
// Random trees of tasks put, executed, stolen, run and waited for through nigh.h, on two queues of
// all shapes, from several threads outside at once: is every node counted once, and nothing left?

#include <nigh/nigh.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arguments.hpp"

namespace {

using Random = std::mt19937_64;
using Sum = std::atomic<std::uint64_t>;

std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

void must_be(bool so, char const* what) {
  if (!so) throw std::logic_error(std::string(what) + "; " + nigh_error());
}

// The input of a task: fits a slot, or is followed by so much that it does not.
struct Node {
  std::array<nigh_task_queue*, 2> const* queues;
  std::uint32_t seed;
  std::uint16_t depth;
  std::uint16_t here;  // index of its queue
};
static_assert(sizeof(Node) <= NIGH_INPUT_IN_SLOT);
struct LargeNode {
  Node node;
  std::array<std::uint32_t, 100> copies;  // of the seed
};

std::uint64_t serial(std::uint32_t seed, int depth) {
  Random random(seed);
  auto const children = depth == 0 ? 0 : below(random, 5);
  std::uint64_t sum = 1;
  for (std::uint64_t c = 0; c < children; ++c)
    sum += serial(static_cast<std::uint32_t>(random()), depth - 1);
  return sum;
}

void visit(void const* in, void* out);
void visit_large(void const* in, void* out) {
  auto const& large = *static_cast<LargeNode const*>(in);
  bool const whole = std::count(large.copies.begin(), large.copies.end(), large.node.seed) == 100;
  if (whole) visit(&large.node, out);
}

void put(Random& random, Node const& node, Sum& sum) {
  auto* const queue = (*node.queues)[node.here];
  if (below(random, 6) == 0) {
    LargeNode large{node, {}};
    large.copies.fill(node.seed);
    nigh_put(queue, visit_large, &large, sizeof large, &sum);
  } else if (below(random, 30) == 0) {
    nigh_run(queue, visit, &node, sizeof node, &sum);
  } else {
    nigh_put(queue, visit, &node, sizeof node, &sum);
  }
}

// Adds the nodes of the tree to *out, itself or through those it puts.
void visit(void const* in, void* out) {
  auto const me = *static_cast<Node const*>(in);
  Random shape(me.seed), random(me.seed + 1u);
  auto const children = me.depth == 0 ? 0 : below(shape, 5);
  bool const waits = below(random, 2) == 0;
  Sum mine{1};
  Sum& sum = waits ? mine : *static_cast<Sum*>(out);
  bool went_over = false;
  for (std::uint64_t c = 0; c < children; ++c) {
    Node child = me;
    child.seed = static_cast<std::uint32_t>(shape());
    --child.depth;
    if (waits && below(random, 10) == 0) {
      child.here = 1 - me.here;
      went_over = true;
    }
    put(random, child, sum);
    if (below(random, 10) == 0) nigh_execute((*me.queues)[me.here]);
    if (below(random, 20) == 0) nigh_steal((*me.queues)[below(random, 2)]);
  }
  if (below(random, 300) == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (!waits) {
    sum.fetch_add(1);
    return;
  }
  if (went_over) nigh_wait((*me.queues)[1 - me.here]);
  nigh_wait((*me.queues)[me.here]);
  static_cast<Sum*>(out)->fetch_add(mine.load());
}

nigh_options some_options(Random& random) {
  static char const* const machines[] = {"numa:1 core:1 pu:1", "numa:1 core:2 pu:1",
                                         "pack:2 numa:1 core:3 pu:1"};
  nigh_options o{};
  o.size = sizeof o;
  auto const machine = below(random, 3);
  o.synthetic = machines[machine];
  o.workers = static_cast<int>(below(random, std::array{2u, 3u, 7u}[machine]));
  o.victims = static_cast<int>(below(random, 3));
  o.chunks = static_cast<int>(below(random, 3));
  if (below(random, 4) == 0) o.depth_cutoff = static_cast<int>(below(random, 8));
  if (below(random, 4) == 0) o.queue_cutoff = static_cast<int>(below(random, 8));
  if (below(random, 2) == 0) o.task_capacity = below(random, 20) + 1;
  return o;
}

void use(std::array<nigh_task_queue*, 2> const& queues, std::uint64_t seed, std::uint64_t scale,
         std::atomic<int>& wrong) {
  Random random(seed);
  for (auto turns = 2 * scale; turns > 0; --turns) {
    std::uint64_t expected = 0;
    Sum sum{0};
    for (auto trees = below(random, 5); trees > 0; --trees) {
      Node const root{&queues, static_cast<std::uint32_t>(random()), 6,
                      static_cast<std::uint16_t>(below(random, 2))};
      expected += serial(root.seed, root.depth);
      put(random, root, sum);
      if (below(random, 4) == 0) nigh_execute(queues[below(random, 2)]);
    }
    if (below(random, 3) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(below(random, 1000)));
    for (auto* queue : queues) nigh_wait(queue);
    if (sum.load() != expected) ++wrong;
  }
}

void play_round(std::uint64_t seed, std::uint64_t scale) {
  Random random(seed);
  std::array<nigh_task_queue*, 2> queues{};
  for (auto& queue : queues) {
    auto const options = some_options(random);
    queue = nigh_task_queue_allocate(below(random, 5) == 0 ? nullptr : &options);
    must_be(queue != nullptr, "a queue");
  }
  std::atomic<int> wrong{0};
  std::vector<std::jthread> users;
  for (auto n = below(random, 4) + 1; n > 0; --n)
    users.emplace_back([&, seed = random()] { use(queues, seed, scale, wrong); });
  users.clear();
  for (auto* queue : queues) {
    must_be(nigh_is_empty(queue) == 1, "an empty queue");
    nigh_counters counters{};
    counters.size = sizeof counters;
    must_be(nigh_read_counters(queue, &counters) == NIGH_OK, "counters");
    must_be(counters.put == counters.finished, "as many tasks finished as were put");
  }
  for (auto* queue : queues) must_be(nigh_task_queue_free(queue) == NIGH_OK, "a queue's end");
  must_be(wrong == 0, "the right sums");
}

}  // namespace

int main(int argc, char** argv) { return stress::play(argc, argv, 20, play_round); }
