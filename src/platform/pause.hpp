// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hints to the processor: that a loop is waiting, that a cache line will be read or written. A
// model-check build replaces them.

#ifndef NIGH_MODEL_ATOMICS

namespace nigh::sync {

inline constexpr int spins = 64;  // looks at a lock before sleeping on it: about 3 us

inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // the nearest thing to pause; yield is a no-op on most cores
#endif
}

// The caller will soon read here.
inline void prefetch(void const* p) noexcept { __builtin_prefetch(p); }
// The caller will soon write here.
inline void prefetch_for_write(void const* p) noexcept { __builtin_prefetch(p, 1); }

}  // namespace nigh::sync

#endif
