// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whoever brings a runtime tasks from elsewhere, and takes some of its tasks there, as the runtime
// sees it: src/cluster, over MPI; tests follow a script.
//
// What comes in is a queued task that a worker without work finds. What goes out is taken from a
// task stack as a thief takes it; its slot stays with its owner, `away`, until it is finished.
//
// (S) Nobody sleeps while find() has something: who puts it there stores what in_sight() loads,
// seq_cst, and then calls scheduler::call_workers(), as push() of a locality queue and notify().

#include <nigh/runtime.hpp>

namespace nigh::tasks {

class Outside {
 public:
  virtual ~Outside() = default;

  // By a worker that has found nothing to do at home. True: it is to run `t`.
  virtual bool find(detail::task& t) noexcept = 0;
  // Would find() give somebody a task? For those about to sleep.
  virtual bool in_sight() const noexcept = 0;
  // A worker goes to sleep, and calls find() no more.
  virtual void misses_one() noexcept {}
};

}  // namespace nigh::tasks
