// SPDX-License-Identifier: Apache-2.0
// The kernels for any processor; on x86-64 with SSE2, which all of them have.
#include "npb_mg/kernel.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "npb_mg/kernel_body.hpp"

namespace npb_mg {

namespace {

#if defined(__x86_64__)
struct Baseline {
  using type = __m128d;
  static constexpr int width = 2;

  static type broadcast(double x) noexcept { return _mm_set1_pd(x); }
  static type load(double const* p) noexcept { return _mm_load_pd(p); }
  static void store(double* p, type v) noexcept { _mm_store_pd(p, v); }
  static void stream(double* p, type v) noexcept { _mm_stream_pd(p, v); }
  static void fence() noexcept { _mm_sfence(); }
  static type largest(type a, type b) noexcept { return _mm_max_pd(a, b); }

  static type before(type previous, type current) noexcept {
    return _mm_shuffle_pd(previous, current, 0b01);
  }
  static type after(type current, type next) noexcept {
    return _mm_shuffle_pd(current, next, 0b01);
  }
  static Pair<Baseline> interleave(type odd, type even) noexcept {
    return {_mm_unpacklo_pd(odd, even), _mm_unpackhi_pd(odd, even)};
  }
  static type odd(type low, type high) noexcept { return _mm_unpacklo_pd(low, high); }
  static type even(type low, type high) noexcept { return _mm_unpackhi_pd(low, high); }
};
#else
struct Baseline {
  using type = double;
  static constexpr int width = 1;

  static type broadcast(double x) noexcept { return x; }
  static type load(double const* p) noexcept { return *p; }
  static void store(double* p, type v) noexcept { *p = v; }
  static void stream(double* p, type v) noexcept { *p = v; }
  static void fence() noexcept {}
  static type largest(type a, type b) noexcept { return a < b ? b : a; }

  static type before(type previous, type) noexcept { return previous; }
  static type after(type, type next) noexcept { return next; }
  static Pair<Baseline> interleave(type odd, type even) noexcept { return {odd, even}; }
  static type odd(type low, type) noexcept { return low; }
  static type even(type, type high) noexcept { return high; }
};
#endif

}  // namespace

Kernel baseline_kernel() noexcept { return Operators<Baseline>::table("baseline"); }

}  // namespace npb_mg
