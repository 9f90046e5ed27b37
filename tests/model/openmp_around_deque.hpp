// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks in a deque of OpenMP tasks, for scenarios: each counts its runs, and says what it has seen.

#include <algorithm>
#include <array>
#include <cstdint>
#include <source_location>

#include "explorer.hpp"
#include "openmp/tasks/task_deque.hpp"

namespace nigh::model {

using namespace openmp::tasks;

struct Job {
  Plain memory;  // which thieves look at before they take it
  Plain input, output;
  int runs = 0;

  void run() {
    check(++runs == 1, "a task ran twice");
    output.set(input.get() + 1);
  }
};

// A place in the ring in which whoever reads it must find a task.
struct FullPlace : sync::atomic<Job*> {
  Job* load(Order order, std::source_location where = std::source_location::current()) const {
    Job* const job = sync::atomic<Job*>::load(order, where);
    check(job != nullptr, "a place is read that is empty");
    return job;
  }
};

template <class Deque>
struct AroundA {
  Deque deque;
  std::array<Job, 6> jobs;

  AroundA() { deque.begin(4, false); }
  bool push(int job) {
    Job& j = jobs[static_cast<std::size_t>(job)];
    j.memory.set(1);
    j.input.set(job);
    return deque.push(&j);
  }
  bool pop() {
    Job* const job = deque.pop(0);
    if (job != nullptr) job->run();
    return job != nullptr;
  }
  bool steal(std::uint32_t most = 1) {
    std::array<Job*, 4> taken{};
    std::uint32_t count = 0;
    auto const chunk = [most](std::uint32_t shared) { return std::min(most, (shared + 1) / 2); };
    auto const may = [](Job const& first) { return first.memory.get() == 1; };
    auto const goes_with = [&](Job const&, Job const& next) { return may(next); };
    if (deque.steal(taken, count, chunk, may, goes_with) != Steal::taken)
      return false;
    for (std::uint32_t i = 0; i < count; ++i) taken[i]->run();
    return true;
  }
  bool help() {
    return deque.publish_for_owner(
        [](std::source_location w = std::source_location::current()) { fence(w); });
  }
  int ran() const {
    int sum = 0;
    for (Job const& job : jobs) sum += job.runs;
    return sum;
  }
};
using Around = AroundA<TaskDeque<Job, 4, FullPlace>>;

}  // namespace nigh::model
