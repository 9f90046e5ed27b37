// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queues on made-up machines, for tests of nigh.h.

#include <gtest/gtest.h>
#include <nigh/nigh.h>

#include <atomic>
#include <memory>
#include <thread>

namespace nigh::tests {

struct Free {
  void operator()(nigh_task_queue* queue) const {
    EXPECT_EQ(nigh_task_queue_free(queue), NIGH_OK) << nigh_error();
  }
};
using Queue = std::unique_ptr<nigh_task_queue, Free>;

inline nigh_options four_workers() {
  nigh_options o{};
  o.size = sizeof o;
  o.synthetic = "pack:2 numa:1 core:2 pu:1";
  return o;
}
inline Queue made(nigh_options const& o) {
  Queue queue(nigh_task_queue_allocate(&o));
  EXPECT_NE(queue, nullptr) << nigh_error();
  return queue;
}
inline Queue queue_of(int workers) {
  auto o = four_workers();
  o.workers = workers;
  return made(o);
}
inline nigh_counters counters(Queue const& queue) {
  nigh_counters c{};
  c.size = sizeof c;
  EXPECT_EQ(nigh_read_counters(queue.get(), &c), NIGH_OK);
  return c;
}

template <class T>
T const& as(void const* in) {
  return *static_cast<T const*>(in);
}

inline void add_one(void const*, void* out) { ++*static_cast<std::atomic<int>*>(out); }

struct Gate {
  std::atomic<bool> reached{false}, open{false};
};
inline void pass(void const* in, void*) {
  auto& gate = *as<Gate*>(in);
  gate.reached = true;
  while (!gate.open) std::this_thread::yield();
}

}  // namespace nigh::tests
