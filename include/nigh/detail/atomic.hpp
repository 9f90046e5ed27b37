// SPDX-License-Identifier: Apache-2.0
#pragma once
// The atomics that lock-free code is written on, and the one seam at which tests replace them:
// NIGH_MODEL_ATOMICS has tests/model/ supply its own, to run every schedule; NIGH_CHAOS puts random
// delays around each operation (tests/chaos/).
//
// Not std::atomic: <atomic> brings clocks, locks and system errors, and would take a third of the
// time in which a small program compiles. These are the same builtins of g++ and clang.

#if defined(NIGH_MODEL_ATOMICS)
#include "model_atomic.hpp"
#elif defined(NIGH_CHAOS)
#include "chaos_atomic.hpp"
#else

#include <type_traits>

namespace nigh::sync {

enum class memory_order : int {
  relaxed = __ATOMIC_RELAXED,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST,
};
inline constexpr auto relaxed = memory_order::relaxed;
inline constexpr auto acquire = memory_order::acquire;
inline constexpr auto release = memory_order::release;
inline constexpr auto acq_rel = memory_order::acq_rel;
inline constexpr auto seq_cst = memory_order::seq_cst;

// As std::atomic<T> of 1, 2, 4 or 8 bytes without padding; every order is written out.
template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0);

 public:
  constexpr atomic() noexcept : value_() {}
  constexpr atomic(T initial) noexcept : value_(initial) {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  // Inlined also where nothing else is, so that the builtins see constants for orders.
  [[gnu::always_inline]] T load(memory_order o) const noexcept {
    T value;
    __atomic_load(&value_, &value, static_cast<int>(o));
    return value;
  }
  [[gnu::always_inline]] void store(T value, memory_order o) noexcept {
    __atomic_store(&value_, &value, static_cast<int>(o));
  }
  [[gnu::always_inline]] T exchange(T value, memory_order o) noexcept {
    T before;
    __atomic_exchange(&value_, &value, &before, static_cast<int>(o));
    return before;
  }
  // Where it fails, the order is that of its load: acquire for acq_rel, relaxed for release.
  [[gnu::always_inline]] bool compare_exchange_strong(T& expected, T value, memory_order o) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &value, false, static_cast<int>(o),
                                     static_cast<int>(of_load(o)));
  }
  [[gnu::always_inline]] bool compare_exchange_weak(T& expected, T value, memory_order o) noexcept {
    return __atomic_compare_exchange(&value_, &expected, &value, true, static_cast<int>(o),
                                     static_cast<int>(of_load(o)));
  }
  [[gnu::always_inline]] T fetch_add(T value, memory_order o) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_add(&value_, value, static_cast<int>(o));
  }
  [[gnu::always_inline]] T fetch_sub(T value, memory_order o) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_sub(&value_, value, static_cast<int>(o));
  }
  [[gnu::always_inline]] T fetch_or(T value, memory_order o) noexcept
    requires std::is_integral_v<T>
  {
    return __atomic_fetch_or(&value_, value, static_cast<int>(o));
  }

 private:
  static constexpr memory_order of_load(memory_order o) noexcept {
    return o == acq_rel ? acquire : o == release ? relaxed : o;
  }

  alignas(sizeof(T) > alignof(T) ? sizeof(T) : alignof(T)) T value_;
};

// A fence to the compiler only: its other half makes all threads pass one
// (src/platform/fence_everywhere.hpp).
[[gnu::always_inline]] inline void light_fence() noexcept {
  __atomic_signal_fence(static_cast<int>(seq_cst));  // the letter is the caller's
}

}  // namespace nigh::sync

#endif
