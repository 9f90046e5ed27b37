// SPDX-License-Identifier: Apache-2.0
#pragma once
// The atomics that lock-free code is written on, and the one seam at which tests replace them:
// NIGH_MODEL_ATOMICS has tests/model/ supply its own, to run every schedule; NIGH_CHAOS puts random
// delays around each operation (tests/chaos/).

#if defined(NIGH_MODEL_ATOMICS)
#include "model_atomic.hpp"
#elif defined(NIGH_CHAOS)
#include "chaos_atomic.hpp"
#else

#include <atomic>

namespace nigh::sync {

template <class T>
using atomic = std::atomic<T>;

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

}  // namespace nigh::sync

#endif
