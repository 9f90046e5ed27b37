// SPDX-License-Identifier: Apache-2.0
#pragma once
// One worker's own data. Only its thread writes here, except that siblings take from its ring.

#include <cstdint>
#include <memory>
#include <nigh/runtime.hpp>

#include "policy/chunk_size.hpp"
#include "tasks/locality_queue.hpp"
#include "tasks/quiescence.hpp"
#include "trace/counters.hpp"

namespace nigh::tasks {

inline constexpr std::size_t ring_capacity = 2 * policy::largest_chunk;

struct alignas(64) Worker {
  Worker(int index_, int cpu_, int domain_, int home_, std::size_t domains)
      : index(index_), cpu(cpu_), domain(domain_), home(home_), counters(domains) {}

  int const index;
  int const cpu;
  int const domain;
  int const home;  // index of its domain among those with workers

  // Tasks taken from the domain's queue in one visit and not yet begun. Filled only when empty, so
  // a chunk always fits.
  std::unique_ptr<LocalityQueue<detail::task>> ring;
  TaskCount tasks;
  trace::WorkerCounters counters;
};

}  // namespace nigh::tasks
