// SPDX-License-Identifier: Apache-2.0
#include "bench/cluster/window_steal.hpp"

#include <array>
#include <chrono>
#include <stdexcept>

#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "cluster/mpi/network.hpp"
#include "cluster/shared_segment.hpp"

namespace bench {

namespace {

using namespace nigh::cluster;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t run = 1;
constexpr int thief = 0;

double us_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - start).count();
}

void await(SharedSegment::Word const& word, std::uint32_t value) {
  while (word.load(nigh::sync::acquire) != value) {
  }
}

// The owner fills its queue when the thief is back, and says so.
void give(SharedSegment& mine, SharedSegment const& taker, int tasks, std::uint32_t& step,
          int count) {
  for (int i = 0; i < count; ++i) {
    await(taker.hungry, ++step);
    for (int t = 0; t < tasks; ++t) {
      Task task;
      task.token = step;
      task.input.resize(Descriptor::most_input);
      if (!mine.queue.put(Descriptor(task), run)) throw std::runtime_error("the queue is full");
    }
    mine.hungry.store(step, nigh::sync::release);
  }
}

std::vector<double> take(SharedSegment& mine, SharedSegment& owner, int tasks, std::uint32_t& step,
                         int count) {
  std::vector<double> us;
  auto const all = [](std::size_t seen) { return seen; };
  for (int i = 0; i < count; ++i) {
    mine.hungry.store(++step, nigh::sync::release);
    await(owner.hungry, step);
    std::array<Descriptor, most_from_queue> got;
    std::size_t n = 0;
    auto const start = Clock::now();
    auto const outcome =
        owner.queue.take(std::span(got).first(static_cast<std::size_t>(tasks)), n, run, all);
    auto const end = Clock::now();
    if (outcome != Take::taken || n != static_cast<std::size_t>(tasks) || got[n - 1].token != step)
      throw std::runtime_error("what was put on the queue is not what came");
    us.push_back(us_between(start, end));
  }
  return us;
}

// Where the launcher has not bound it to one.
int cpu_of(int rank) {
  auto const machine = live_machine();
  auto const& cpus = machine.cpus();
  return cpus[static_cast<std::size_t>(rank) % cpus.size()];
}

}  // namespace

std::vector<double> window_steals(int rounds, int steals_a_round, int tasks) {
  mpi::Network network(false, false);
  pin_this_thread(cpu_of(network.rank()));
  auto const segments = meet_segments(network);
  std::vector<double> medians;
  std::uint32_t step = 0;
  int const other = 1 - network.rank();
  for (int round = -1; segments.has(other) && round < rounds; ++round) {  // the first warms up
    auto &mine = segments.own(), &theirs = segments.at(other);
    if (network.rank() != thief) {
      give(mine, theirs, tasks, step, steals_a_round);
      continue;
    }
    auto const us = take(mine, theirs, tasks, step, steals_a_round);
    if (round >= 0) medians.push_back(median_of(us));
  }
  network.finish();
  return medians;
}

}  // namespace bench
