// SPDX-License-Identifier: Apache-2.0
#pragma once
// sync::atomic for chaos builds: before and after each operation, now and then, the thread is held
// up, a few instructions or a time slice long, so that rare interleavings become common ones. The
// orders stay as written; what orders allow, tests/model explores.
//
// NIGH_CHAOS_SEED in the environment chooses the delays; each thread has its own sequence.

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace nigh::sync {

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

namespace chaos {

inline std::uint64_t seed() noexcept {
  static std::uint64_t const value = [] {
    char const* const text = std::getenv("NIGH_CHAOS_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
  }();
  return value;
}

// Splitmix64 (Steele et al., 2014).
inline std::uint64_t random() noexcept {
  static std::atomic<std::uint64_t> threads{0};
  thread_local std::uint64_t state =
      seed() + (threads.fetch_add(1, std::memory_order_relaxed) << 32);
  auto z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline void hold_up() noexcept {
  auto const r = random();
  if (r % 64 == 0) {
    sched_yield();
  } else if (r % 16 == 0) {
    for (auto n = (r >> 32) % 400; n > 0; --n) asm volatile("");
  }
}

struct HoldUp {
  HoldUp() noexcept { hold_up(); }
  ~HoldUp() { hold_up(); }
};

}  // namespace chaos

template <class T>
class atomic : public std::atomic<T> {
  using base = std::atomic<T>;
  using order = std::memory_order;

 public:
  constexpr atomic() noexcept = default;
  constexpr atomic(T value) noexcept : base(value) {}

  T load(order o) const noexcept {
    chaos::HoldUp const around;
    return base::load(o);
  }
  void store(T v, order o) noexcept {
    chaos::HoldUp const around;
    base::store(v, o);
  }
  T exchange(T v, order o) noexcept {
    chaos::HoldUp const around;
    return base::exchange(v, o);
  }
  T fetch_add(T v, order o) noexcept {
    chaos::HoldUp const around;
    return base::fetch_add(v, o);
  }
  T fetch_sub(T v, order o) noexcept {
    chaos::HoldUp const around;
    return base::fetch_sub(v, o);
  }
  bool compare_exchange_strong(T& expected, T v, order o) noexcept {
    chaos::HoldUp const around;
    return base::compare_exchange_strong(expected, v, o);
  }
};

inline void light_fence() noexcept {
  chaos::HoldUp const around;
  std::atomic_signal_fence(seq_cst);
}

}  // namespace nigh::sync
