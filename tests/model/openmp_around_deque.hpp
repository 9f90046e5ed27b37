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
  Plain input, output;
  int runs = 0;

  void run() {
    check(++runs == 1, "a task ran twice");
    output.set(input.get() + 1);
  }
};

template <class Deque>
struct AroundA {
  Deque deque;
  std::array<Job, 6> jobs;

  AroundA() { deque.begin(4, false); }
  bool push(int job) {
    Job& j = jobs[static_cast<std::size_t>(job)];
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
    if (deque.steal(taken, count, chunk, [](Job const&) { return true; },
                    [](Job const&, Job const&) { return true; }) != Steal::taken)
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
using Around = AroundA<TaskDeque<Job, 4>>;

}  // namespace nigh::model
