// SPDX-License-Identifier: Apache-2.0
#pragma once
// The atomics that lock-free code is written on. A model-check build puts its own in their place:
// tests/model/ defines NIGH_MODEL_ATOMICS and supplies sync::atomic and sync::pause.

#ifdef NIGH_MODEL_ATOMICS
#include "model_atomic.hpp"
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
