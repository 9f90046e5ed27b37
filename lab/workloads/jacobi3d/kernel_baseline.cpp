// SPDX-License-Identifier: Apache-2.0
// The kernel for any processor; on x86-64 with SSE2, which all of them have.
#include "jacobi3d/kernel.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "jacobi3d/tile_body.hpp"
#include "jacobi3d/two_steps_body.hpp"

namespace jacobi3d {

namespace {

#if defined(__x86_64__)
struct Sse2 {
  using type = __m128d;
  static constexpr int width = 2, rows = 2;
  static type broadcast(double x) noexcept { return _mm_set1_pd(x); }
  static type load(double const* p) noexcept { return _mm_load_pd(p); }
  static type load_unaligned(double const* p) noexcept { return _mm_loadu_pd(p); }
  static type before(double const* p, type) noexcept { return load_unaligned(p - 1); }
  static type behind(double const* p, type) noexcept { return load_unaligned(p + 1); }
  static void store(double* p, type v) noexcept { _mm_store_pd(p, v); }
  static void stream(double* p, type v) noexcept { _mm_stream_pd(p, v); }
  static void fence() noexcept { _mm_sfence(); }
};
#else
struct Scalar {
  using type = double;
  static constexpr int width = 1, rows = 2;
  static type broadcast(double x) noexcept { return x; }
  static type load(double const* p) noexcept { return *p; }
  static type load_unaligned(double const* p) noexcept { return *p; }
  static type before(double const* p, type) noexcept { return load_unaligned(p - 1); }
  static type behind(double const* p, type) noexcept { return load_unaligned(p + 1); }
  static void store(double* p, type v) noexcept { *p = v; }
};
#endif

}  // namespace

KernelPair baseline_kernels() noexcept {
#if defined(__x86_64__)
  return {sweep_block<Sse2, false>, sweep_block<Sse2, true>, two_steps<Sse2, false>,
          two_steps<Sse2, true>, sweep_in_tile<Sse2>};
#else
  return {sweep_block<Scalar, false>, nullptr, two_steps<Scalar, false>, nullptr,
          sweep_in_tile<Scalar>};
#endif
}

}  // namespace jacobi3d
