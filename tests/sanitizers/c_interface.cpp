// SPDX-License-Identifier: Apache-2.0
// Features: the C interface.
#include <nigh/nigh.h>

#include <cstring>
#include <thread>
#include <vector>

#include "features.hpp"

namespace user {
namespace {

struct Input {
  long const* from;
  char rest[56];  // more than a slot holds: the input is copied to the heap
};
void twice(void const* in, void* out) {
  long const* from = nullptr;
  std::memcpy(&from, in, sizeof from);
  *static_cast<long*>(out) = 2 * *from;
}

bool puts() {
  auto* const queue = nigh_task_queue_allocate(nullptr);
  std::vector<long> in(200, 1), out(in.size());
  bool good = true;
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      Input large{&in[i], {}};
      nigh_put(queue, twice, &large, i % 2 == 0 ? sizeof large : sizeof large.from, &out[i]);
    }
    nigh_wait(queue);
    for (std::size_t i = 0; i < in.size(); ++i) good = good && out[i] == 2 * in[i];
    for (long& x : in) ++x;
  }
  return nigh_task_queue_free(queue) == NIGH_OK && good;
}

void put_more(void const* in, void*) {
  struct Here {
    nigh_task_queue* queue;
    long* from;
    int left;
  } here;
  std::memcpy(&here, in, sizeof here);
  ++here.from[here.left];
  if (here.left == 0) return;
  --here.left;
  nigh_put(here.queue, put_more, &here, sizeof here, nullptr);
}

// A thread that is no worker looks whether all is done, and does not wait.
bool asks_if_empty() {
  nigh_options options{};
  options.size = sizeof options;
  options.workers = 1;
  auto* const queue = nigh_task_queue_allocate(&options);
  std::vector<long> seen(20);
  struct {
    nigh_task_queue* queue;
    long* from;
    int left;
  } const first{queue, seen.data(), 19};
  std::thread putter([&] { nigh_run(queue, put_more, &first, sizeof first, nullptr); });
  for (int look = 0; look < 100 || nigh_is_empty(queue) == 0; ++look) std::this_thread::yield();
  putter.join();
  long sum = 0;
  for (long const x : seen) sum += x;
  return nigh_task_queue_free(queue) == NIGH_OK && sum == 20;
}

bool empty_is_done() {
  auto* const queue = nigh_task_queue_allocate(nullptr);
  long in = 21, out = 0;
  meeting put, looked;
  long const* from = &in;
  std::thread putter([&] {
    nigh_put(queue, twice, &from, sizeof from, &out);
    put.come();
    looked.await(1);
    nigh_wait(queue);
  });
  bool const was_put = put.await(1);
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool done = false;  // it is stolen from the thread that put it
  while (!(done = nigh_is_empty(queue) == 1) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  bool const good = !was_put || !done || out == 42;
  looked.come();
  putter.join();
  nigh_task_queue_free(queue);
  return good;
}

bool c_loop() {
  std::vector<long> v(1000);
  nigh_parallel_for(
      0, v.size(),
      [](std::size_t begin, std::size_t end, void* context) {
        for (auto i = begin; i < end; ++i) static_cast<long*>(context)[i] = 1;
      },
      v.data(), nullptr);
  long sum = 0;
  for (long const x : v) sum += x;
  return sum == 1000;
}

constexpr feature all[] = {
    {"puts", puts}, {"asks_if_empty", asks_if_empty}, {"empty_is_done", empty_is_done}, {"c_loop", c_loop}};

}  // namespace

std::span<feature const> c_features() { return all; }

}  // namespace user
