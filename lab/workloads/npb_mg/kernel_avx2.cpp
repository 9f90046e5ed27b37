// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "npb_mg/kernel_body.hpp"

namespace npb_mg {

namespace {

struct Avx2 {
  using type = __m256d;
  static constexpr int width = 4;

  static type broadcast(double x) noexcept { return _mm256_set1_pd(x); }
  static type load(double const* p) noexcept { return _mm256_load_pd(p); }
  static void store(double* p, type v) noexcept { _mm256_store_pd(p, v); }
  static void stream(double* p, type v) noexcept { _mm256_stream_pd(p, v); }
  static void fence() noexcept { _mm_sfence(); }
  static type largest(type a, type b) noexcept { return _mm256_max_pd(a, b); }

  static type before(type previous, type current) noexcept {
    return _mm256_shuffle_pd(middle(previous, current), current, 0b0101);
  }
  static type after(type current, type next) noexcept {
    return _mm256_shuffle_pd(current, middle(current, next), 0b0101);
  }
  static Pair<Avx2> interleave(type odd, type even) noexcept {
    type const low = _mm256_unpacklo_pd(odd, even);
    type const high = _mm256_unpackhi_pd(odd, even);
    return {_mm256_permute2f128_pd(low, high, 0x20), _mm256_permute2f128_pd(low, high, 0x31)};
  }
  static type odd(type low, type high) noexcept {
    return _mm256_unpacklo_pd(_mm256_permute2f128_pd(low, high, 0x20),
                              _mm256_permute2f128_pd(low, high, 0x31));
  }
  static type even(type low, type high) noexcept {
    return _mm256_unpackhi_pd(_mm256_permute2f128_pd(low, high, 0x20),
                              _mm256_permute2f128_pd(low, high, 0x31));
  }

 private:
  // The high half of a, then the low half of b.
  static type middle(type a, type b) noexcept { return _mm256_permute2f128_pd(a, b, 0x21); }
};

}  // namespace

Kernel avx2_kernel() noexcept { return Operators<Avx2>::table("avx2"); }

}  // namespace npb_mg
