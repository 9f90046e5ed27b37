// SPDX-License-Identifier: Apache-2.0
// The kernel with 256-bit vectors; this file alone is compiled for them.
#include <immintrin.h>

#include "jacobi3d/kernel.hpp"
#include "jacobi3d/tile_body.hpp"
#include "jacobi3d/two_steps_body.hpp"

namespace jacobi3d {

namespace {

struct Avx2 {
  using type = __m256d;
  static constexpr int width = 4, rows = 2;
  static type broadcast(double x) noexcept { return _mm256_set1_pd(x); }
  static type load(double const* p) noexcept { return _mm256_load_pd(p); }
  static type load_unaligned(double const* p) noexcept { return _mm256_loadu_pd(p); }
  static type before(double const* p, type) noexcept { return load_unaligned(p - 1); }
  static type behind(double const* p, type) noexcept { return load_unaligned(p + 1); }
  static void store(double* p, type v) noexcept { _mm256_store_pd(p, v); }
  static void stream(double* p, type v) noexcept { _mm256_stream_pd(p, v); }
  static void fence() noexcept { _mm_sfence(); }
};

}  // namespace

KernelPair avx2_kernels() noexcept {
  return {sweep_block<Avx2, false>, sweep_block<Avx2, true>, two_steps<Avx2, false>,
          two_steps<Avx2, true>, sweep_in_tile<Avx2>};
}

}  // namespace jacobi3d
