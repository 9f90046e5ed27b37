// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which worker, of which scheduler, the calling thread is.

#include "tasks/worker.hpp"

namespace nigh::detail {

class scheduler;

struct Current {
  scheduler const* owner = nullptr;
  tasks::Worker* worker = nullptr;
};

inline thread_local Current current;

}  // namespace nigh::detail
