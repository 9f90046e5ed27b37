// SPDX-License-Identifier: Apache-2.0
#pragma once
// The C interface's task queue: counts of its own, on the task stacks of a runtime's threads.

#include <nigh/nigh.h>

#include <memory>
#include <nigh/detail/task_stack.hpp>
#include <vector>

#include "runtime/put_count.hpp"
#include "runtime/scheduler.hpp"

struct nigh_task_queue {
  using scheduler = nigh::detail::scheduler;

  // Own machine and workers, or none.
  std::unique_ptr<nigh::topology> machine;
  std::unique_ptr<scheduler> own;
  scheduler& host;
  std::vector<nigh::tasks::PutCount> counts;  // [seat]
  nigh::tasks::SharedPutCount elsewhere;
  nigh::sync::atomic<int> visitors{0};  // seats that threads hold, of a runtime of its own

  explicit nigh_task_queue(scheduler& shared);
  nigh_task_queue(std::unique_ptr<nigh::topology> its_machine,
                  nigh::runtime_options const& options);

  nigh::tasks::PutCount& counts_of(nigh::tasks::Worker const& w) noexcept {
    return counts[static_cast<std::size_t>(w.seat)];
  }
  std::uint64_t finished() const noexcept;
  std::uint64_t put() const noexcept;
  bool empty() const noexcept {
    auto const done = finished();
    return done == put();
  }
};

namespace nigh::tasks {

// The calling thread, if it is one of the runtime's or works on a seat of it.
inline Worker* worker_of(nigh_task_queue const& queue) noexcept {
  auto* const worker = detail::this_stack->worker;
  return worker != nullptr && &worker->host == &queue.host ? worker : nullptr;
}

// A function with what it works on.
struct Call {
  nigh_function f;
  void const* in;
  std::size_t in_bytes;
  void* out;
};

// The calls of nigh.h, after their arguments have been looked at.
void put(nigh_task_queue& queue, Call const& call) noexcept;
void wait(nigh_task_queue& queue) noexcept;
bool execute(nigh_task_queue& queue) noexcept;
std::uint32_t steal(nigh_task_queue& queue) noexcept;
void run(nigh_task_queue& queue, Call const& call);

}  // namespace nigh::tasks
