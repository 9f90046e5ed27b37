// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "npb_mg/kernel_body.hpp"

namespace npb_mg {

namespace {

struct Avx512 {
  using type = __m512d;
  static constexpr int width = 8;

  static type broadcast(double x) noexcept { return _mm512_set1_pd(x); }
  static type load(double const* p) noexcept { return _mm512_load_pd(p); }
  static void store(double* p, type v) noexcept { _mm512_store_pd(p, v); }
  static void stream(double* p, type v) noexcept { _mm512_stream_pd(p, v); }
  static void fence() noexcept { _mm_sfence(); }
  static type largest(type a, type b) noexcept { return _mm512_maskz_max_pd(all, a, b); }

  static type before(type previous, type current) noexcept { return shifted<7>(current, previous); }
  static type after(type current, type next) noexcept { return shifted<1>(next, current); }
  static Pair<Avx512> interleave(type odd, type even) noexcept {
    return {pick(odd, even, 0, 8, 1, 9, 2, 10, 3, 11), pick(odd, even, 4, 12, 5, 13, 6, 14, 7, 15)};
  }
  static type odd(type low, type high) noexcept {
    return pick(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
  }
  static type even(type low, type high) noexcept {
    return pick(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
  }

 private:
  // The masked forms: g++ 12 warns of the undefined vector inside the plain ones.
  static constexpr __mmask8 all = 0xff;

  template <int lanes>
  static type shifted(type high, type low) noexcept {
    return _mm512_castsi512_pd(
        _mm512_maskz_alignr_epi64(all, _mm512_castpd_si512(high), _mm512_castpd_si512(low), lanes));
  }
  static type pick(type a, type b, long long l0, long long l1, long long l2, long long l3,
                   long long l4, long long l5, long long l6, long long l7) noexcept {
    return _mm512_permutex2var_pd(a, _mm512_setr_epi64(l0, l1, l2, l3, l4, l5, l6, l7), b);
  }
};

}  // namespace

Kernel avx512_kernel() noexcept { return Operators<Avx512>::table("avx512"); }

}  // namespace npb_mg
