// SPDX-License-Identifier: Apache-2.0
#include "bench/stream.hpp"

#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {

namespace {

constexpr std::size_t line = 8;

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void stream_avx512(double const* from, double* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 8) _mm512_stream_pd(to + i, _mm512_load_pd(from + i));
  _mm_sfence();
}

[[gnu::target("avx512f")]] void plain_avx512(double const* from, double* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 8) _mm512_store_pd(to + i, _mm512_load_pd(from + i));
}

void stream_sse2(double const* from, double* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 2) _mm_stream_pd(to + i, _mm_load_pd(from + i));
  _mm_sfence();
}
#endif

// The barrier keeps compilers from calling memcpy, which streams large copies.
void plain_any(double const* from, double* to, std::size_t n) {
  for (std::size_t i = 0; i < n; i += line) {
    for (std::size_t e = 0; e < line; ++e) to[i + e] = from[i + e];
    asm volatile("" ::: "memory");
  }
}

using Copy = void (*)(double const*, double*, std::size_t);

Copy copy_with(Stores stores) {
#if defined(__x86_64__)
  bool const wide = __builtin_cpu_supports("avx512f");
  if (stores == Stores::streaming) return wide ? stream_avx512 : stream_sse2;
  if (wide) return plain_avx512;
#endif
  (void)stores;
  return plain_any;
}

}  // namespace

bool streaming_copy_available() noexcept {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

double seconds_to_copy(Crew& crew, double const* from, double* to, std::size_t count,
                       Stores stores) {
  Copy const copy = copy_with(stores);
  std::size_t const lines = count / line;
  auto const threads = static_cast<std::size_t>(crew.size());
  auto const start = std::chrono::steady_clock::now();
  crew.run([&](int thread) {
    auto const t = static_cast<std::size_t>(thread);
    std::size_t const begin = lines * t / threads * line;
    std::size_t const end = lines * (t + 1) / threads * line;
    copy(from + begin, to + begin, end - begin);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace bench
