// SPDX-License-Identifier: Apache-2.0
// The kernel with 512-bit vectors; this file alone is compiled for them.
#include <immintrin.h>

#include "jacobi3d/kernel.hpp"
#include "jacobi3d/tile_body.hpp"
#include "jacobi3d/two_steps_body.hpp"

namespace jacobi3d {

namespace {

struct Avx512 {
  using type = __m512d;
  static constexpr int width = 8, rows = 4;
  static type broadcast(double x) noexcept { return _mm512_set1_pd(x); }
  static type load(double const* p) noexcept { return _mm512_load_pd(p); }
  static type load_unaligned(double const* p) noexcept { return _mm512_loadu_pd(p); }
  // A vector is a line, so that each unaligned load reads two; shifts cost less.
  static type before(double const* p, type v) noexcept { return shifted<7>(load(p - width), v); }
  static type behind(double const* p, type v) noexcept { return shifted<1>(v, load(p + width)); }
  template <int by>
  static type shifted(type low, type high) noexcept {
    // All of it: g++ 12 warns of the other one.
    return _mm512_castsi512_pd(
        _mm512_maskz_alignr_epi64(0xff, _mm512_castpd_si512(high), _mm512_castpd_si512(low), by));
  }
  static void store(double* p, type v) noexcept { _mm512_store_pd(p, v); }
  static void stream(double* p, type v) noexcept { _mm512_stream_pd(p, v); }
  static void fence() noexcept { _mm_sfence(); }
};

}  // namespace

KernelPair avx512_kernels() noexcept {
  return {sweep_block<Avx512, false>, sweep_block<Avx512, true>, two_steps<Avx512, false>,
          two_steps<Avx512, true>, sweep_in_tile<Avx512>};
}

}  // namespace jacobi3d
