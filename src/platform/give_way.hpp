// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waiting for what another thread is about to do, within microseconds if it has a cpu.

#include <cstdint>

#include "base/atomic.hpp"
#include "platform/futex.hpp"
#include "platform/pause.hpp"
#include "platform/thread.hpp"

namespace nigh::platform {

// Between two looks, of which there have been so many: first a pause, then lets another thread have
// the cpu. Now and then it sleeps: a thread of a real-time class lets only others of its class have
// the cpu when it yields.
inline void give_way(int looks) noexcept {
  constexpr int yields = 64;
  if (looks < sync::spins) {
    sync::pause();
  } else if ((looks - sync::spins) % yields != yields - 1) {
    yield();
  } else {
    sync::atomic<std::uint32_t> nothing{0};
    futex_wait_for(nothing, 0, 50'000);
  }
}

}  // namespace nigh::platform
