// SPDX-License-Identifier: Apache-2.0
#pragma once
// A task's call about a checkpoint, on its worker's stack: it goes to the thread that polls, and is
// back when pending is 0. From then on it may be gone.

#include <cstdint>
#include <string>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "cluster/checkpoints.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::cluster {

struct CheckpointCall {
  enum class What { keep, find, forget };
  What what;
  std::string name;
  Checkpoints::Found of = {};  // what is kept, or was found
  nigh::tasks::Worker* caller = nullptr;
  sync::atomic<std::uint32_t> pending{1};

  void begin(Checkpoints& checkpoints) {
    switch (what) {
      case What::keep:
        return checkpoints.keep(this, name, of.step, std::move(of.content));
      case What::find:
        return checkpoints.find(this, name);
      case What::forget:
        return checkpoints.forget(this, name);
    }
  }
  static void end(Checkpoints::Finished finished) noexcept {
    auto& call = *static_cast<CheckpointCall*>(finished.call);
    if (finished.found) call.of = std::move(*finished.found);
    auto* const caller = call.caller;
    base::announce_release(&call.pending);
    call.pending.store(0, sync::seq_cst);  // (parking.S)
    caller->wake();
  }
};

}  // namespace nigh::cluster
