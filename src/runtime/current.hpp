// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which worker, of which scheduler, the calling thread is; and in which process we are.

#include "runtime/worker.hpp"

namespace nigh::detail {

class scheduler;

struct Current {
  scheduler const* owner = nullptr;
  tasks::Worker* worker = nullptr;
};

inline thread_local Current current;

// How often this process and those it descends from have forked, since the library was first used:
// tells a child's copies of schedulers from its own.
unsigned forks_so_far() noexcept;

}  // namespace nigh::detail
