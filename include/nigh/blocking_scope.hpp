// SPDX-License-Identifier: Apache-2.0
#pragma once
// blocking_scope: a task says that it is about to block.

#include <nigh/detail/cxx20.hpp>

#include <nigh/detail/export.hpp>

namespace nigh {

namespace tasks {
struct Worker;
}

// A task that waits for a file, a lock, a network or another thread keeps a cpu idle, and keeps the
// tasks in its worker's stack from other workers. As long as a blocking_scope lives, those tasks
// can be stolen, and another thread works on the worker's cpu. When the scope ends, that thread
// leaves after its current task; for a moment both may run.
//
// Each worker has one such backup thread, started when first needed. In an external thread, which
// computes in the place of a worker, that worker may go on meanwhile. A blocking_scope within
// another one of the same thread, in a backup thread, or in a thread that works for no runtime does
// nothing. When the system refuses a thread, the scope only offers the tasks.
class NIGH_API blocking_scope {
 public:
  blocking_scope();
  ~blocking_scope();
  blocking_scope(blocking_scope&&) = delete;
  blocking_scope& operator=(blocking_scope&&) = delete;

 private:
  tasks::Worker* worker_ = nullptr;  // whose backup thread works, or that has made room
};

}  // namespace nigh
