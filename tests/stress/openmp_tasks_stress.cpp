// SPDX-License-Identifier: Apache-2.0
// The engine of OpenMP tasks, driven by teams of plain threads: random trees of tasks that wait, or
// do not, in groups, with dependences, events, yields, tasks near their data, more tasks than a
// deque holds, and barriers in between, on leases that are exchanged all the time. The results of
// tasks are read without locks where the standard says that they may be.

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

#include "arguments.hpp"
#include "openmp_engine.hpp"

namespace {

using namespace nigh::test;
using Random = std::mt19937_64;

std::uint64_t below(Random& random, std::uint64_t n) { return random() % n; }

void require(bool condition, char const* what) {
  if (condition) return;
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
  std::abort();
}

// ---- trees

// The number of nodes of a tree from this seed.
std::uint64_t serial(std::uint64_t seed, int depth) {
  Random random(seed);
  random();  // how the node waits
  std::uint64_t sum = 1;
  for (auto children = depth == 0 ? 0 : below(random, 5); children > 0; --children)
    sum += serial(random(), depth - 1);
  return sum;
}

// Each node writes its sum where its parent reads it after a wait.
std::uint64_t tree(std::uint64_t seed, int depth) {
  Random random(seed);
  auto const how = random() % 8;
  auto const children = depth == 0 ? 0 : below(random, 5);
  std::array<std::uint64_t, 4> sums{};
  bool const in_group = how < 3;
  if (in_group) begin_group(*member);
  for (std::uint64_t c = 0; c < children; ++c) {
    auto const child = random();
    std::uint16_t const flags = how == 4 ? flag::untied : 0;
    auto& sum = sums[c];
    if (how == 5 && c == 0) {
      run(*member, make_task([&sum, child, depth] { sum = tree(child, depth - 1); }));
      continue;
    }
    spawn(
        [&sum, child, depth, in_group] {
          if (!in_group) {
            sum = tree(child, depth - 1);
            return;
          }
          // Nobody waits for this one's child but the group.
          spawn([&sum, child, depth] { sum = tree(child, depth - 1); });
        },
        flags);
    if (how == 6) taskyield(*member);
  }
  if (in_group)
    end_group(wait_group(*member));
  else
    taskwait(*member);
  std::uint64_t all = 1;
  for (auto const sum : sums) all += sum;
  return all;
}

// ---- tasks for which nobody waits but the barrier

void orphans(std::atomic<std::uint64_t>& count, int depth) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (depth == 0) return;
  for (int c = 0; c < 2; ++c) spawn([&count, depth] { orphans(count, depth - 1); });
  run_at_once([&count, depth] { orphans(count, depth - 1); });
}

// ---- dependences: cells that tasks read and write as they say, in the order in which they are
// made

void with_cells(std::uint64_t seed, int tasks) {
  constexpr std::size_t most = 5;
  Random random(seed);
  std::array<long, most> cells{}, expected{};
  for (int i = 0; i < tasks; ++i) {
    auto const from = below(random, most), to = below(random, most);
    auto const number = static_cast<long>(below(random, 100));
    expected[to] = expected[to] * 3 + expected[from] + number;
    expected[to] %= 1'000'003;
    std::array<Depend, 2> const list{{{reinterpret_cast<std::uintptr_t>(&cells[from]), Access::in},
                                      {reinterpret_cast<std::uintptr_t>(&cells[to]), Access::out}}};
    Task& t = make_task([&cells, from, to, number] {
      cells[to] = cells[to] * 3 + cells[from] + number;
      cells[to] %= 1'000'003;
    });
    submit_after(*member, t, list.data(), list.size());
    if (below(random, 20) == 0) {
      Depend const one{reinterpret_cast<std::uintptr_t>(&cells[to]), Access::in};
      wait_for(*member, &one, 1);
      require(cells[to] == expected[to], "a wait for a dependence sees what the task wrote");
    }
  }
  taskwait(*member);
  require(cells == expected, "dependent tasks run in their order");
}

// ---- events

// Each task ends when both its body has and its event has come, from another task or from outside.
void with_events(int tasks, bool from_outside) {
  std::vector<int> done(static_cast<std::size_t>(tasks), 0);
  std::vector<void*> events;
  for (int i = 0; i < tasks; ++i) {
    int& mine = done[static_cast<std::size_t>(i)];
    Task& t = make_task([&mine] { mine += 1; });
    extra_of(*member, t);
    t.flags |= flag::detachable;
    events.push_back(event_of(t));
    submit(*member, t);
  }
  std::thread outside;
  if (from_outside)
    outside = std::thread([&events] {
      for (void* const e : events) fulfill(*task_of_event(e));
    });
  else
    for (void* const e : events) spawn([e] { fulfill(*task_of_event(e)); });
  taskwait(*member);
  for (int const d : done) require(d == 1, "a task with an event has run");
  if (outside.joinable()) outside.join();
}

// ---- tasks near their data

void near_data(std::uint64_t seed, int tasks) {
  Random random(seed);
  std::vector<int> done(static_cast<std::size_t>(tasks), 0);
  for (int& d : done) {
    Task& t = make_task([&d] { d = 1; });
    extra_of(*member, t)->near = reinterpret_cast<void const*>(below(random, 8) << 16U);
    submit_somewhere(*member, t);
  }
  taskwait(*member);
  for (int const d : done) require(d == 1, "a task near its data has run");
}

// ---- a lease that is asked for at every so many looks

class Moving final : public nigh::openmp::RunningLease {
 public:
  explicit Moving(std::uint64_t threads, std::uint64_t every) : followed_(threads), every_(every) {}

  bool is_outdated() noexcept override { return ++looks_ % every_ == 0; }
  // Without a lock: all threads have settled, or have not looked yet.
  std::uint32_t exchange(std::uint32_t threads) noexcept override {
    require(threads == followed_.size(), "all threads have a place");
    for (long const at : followed_) require(at == place_, "all have followed to the last place");
    ++place_;
    return 1 + static_cast<std::uint32_t>(place_) % threads;
  }
  void tell(std::uint64_t, std::uint64_t) noexcept override {}
  void settle(std::uint32_t number) noexcept override {
    require(followed_[number] == place_ - 1, "a thread follows once");
    followed_[number] = place_;
  }

 private:
  std::vector<long> followed_;
  long place_ = 0;
  std::uint64_t looks_ = 0, every_;
};

// ---- a round

struct Wall {
  std::vector<long> values;
  explicit Wall(std::size_t size) : values(size, 0) {}
};

void play_round(std::uint64_t seed, std::uint64_t scale) {
  Random random(seed);
  auto const threads = below(random, 6) + 1;
  std::vector<int> cpus;
  for (std::uint64_t k = 0; k < threads; ++k)
    cpus.push_back(static_cast<int>(below(random, engine_cpus + 1)) - 1);
  std::uint64_t const seeds = random();
  Wall wall(threads);
  std::atomic<std::uint64_t> orphaned{0};
  Moving lease(threads, below(random, 20) + 1);
  auto* const moves = below(random, 3) == 0 ? nullptr : &lease;
  auto const quiet = below(random, 4);
  auto const body = [&](std::uint32_t k) {
    Random mine(seeds + k);
    // Until a thread has tasks, the others wait in the runtime's barrier.
    for (std::uint64_t phase = 1; phase <= quiet; ++phase) {
      wall.values[k] = -static_cast<long>(phase);
      if (phase == quiet && k == seeds % threads) {
        if (threads > 1) {  // it waits by means of its own: another thread must come for the task
          std::atomic<bool> has_run{false};
          spawn([&has_run] { has_run = true; });
          while (!has_run) std::this_thread::yield();
        }
        auto const one = mine();
        require(tree(one, 8) == serial(one, 8), "each node of a late tree is counted once");
      }
      for (bool const again : {false, true}) {
        runtime_barrier();
        if (!again)
          for (long const v : wall.values)
            require(v == -static_cast<long>(phase), "all have arrived at the runtime's barrier");
      }
    }
    for (std::uint64_t phase = 1; phase <= 6 * scale; ++phase) {
      auto const kind = (seeds + phase) % 6;
      auto const one = mine();
      switch (kind) {
        case 0:
          require(tree(one, 8) == serial(one, 8), "each node of a tree is counted once");
          break;
        case 1:
          orphans(orphaned, 5);
          break;
        case 2:
          with_cells(one, 120);
          break;
        case 3:
          with_events(30, k % 2 == 0);
          break;
        case 4:
          near_data(one, 200);
          break;
        default:  // one thread makes all, and more than its deque holds
          if (k != 0) break;
          for (int i = 0; i < 6000; ++i) spawn([&orphaned] { orphaned.fetch_add(1); });
          break;
      }
      wall.values[k] = static_cast<long>(phase);
      barrier(*member);
      for (long const v : wall.values)
        require(v == static_cast<long>(phase), "all have arrived, and all is seen that they did");
      std::uint64_t expected = 0;
      for (std::uint64_t p = 1; p <= phase; ++p) {
        if ((seeds + p) % 6 == 1) expected += threads * 364;  // 1 + 3 + ... + 3^5
        if ((seeds + p) % 6 == 5) expected += 6000;
      }
      require(orphaned.load() == expected, "no task outlasts a barrier");
      barrier(*member);
    }
  };
  in_team(cpus, body, moves);
}

}  // namespace

int main(int argc, char** argv) { return stress::play(argc, argv, 100, play_round); }
