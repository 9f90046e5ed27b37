// SPDX-License-Identifier: Apache-2.0
#include "bench/probes.hpp"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <nigh/fork_join.hpp>
#include <thread>

#include "bench/handshakes.hpp"
#include "bench/pinned_threads.hpp"

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

double seconds_to_copy(PinnedThreads& pinned, double const* from, double* to, std::size_t count,
                       Stores stores) {
  Copy const copy = copy_with(stores);
  std::size_t const lines = count / line;
  auto const threads = static_cast<std::size_t>(pinned.size());
  auto const start = std::chrono::steady_clock::now();
  pinned.run([&](int thread) {
    auto const t = static_cast<std::size_t>(thread);
    std::size_t const begin = lines * t / threads * line;
    std::size_t const end = lines * (t + 1) / threads * line;
    copy(from + begin, to + begin, end - begin);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> time_cache_line(std::vector<int> const& cpus, int samples) {
  constexpr int trips = 100;
  std::vector<double> times;
  if (cpus.size() < 2) return times;
  Turn turns;  // even: the first thread's
  PinnedThreads pinned({cpus[0], cpus[1]});
  pinned.run([&](int thread) {
    int turn = thread;
    auto const one_way = [&] {
      turns.wait(turn);
      turns.pass(turn + 1);
      turn += 2;
    };
    for (int s = -1; s < samples; ++s) {  // the first one waits for both to be there
      auto const start = std::chrono::steady_clock::now();
      for (int n = 0; n < trips; ++n) one_way();
      std::chrono::duration<double, std::nano> const passed =
          std::chrono::steady_clock::now() - start;
      if (thread == 0 && s >= 0) times.push_back(passed.count() / trips);
    }
  });
  return times;
}

// (probes.S) The owner sees all that the thief did before: the thief releases `begun`, the owner
// acquires it.
std::vector<double> time_steals(nigh::runtime& runtime, int samples) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  runtime.run([&] {
    for (int s = -1; s < samples; ++s) {  // the first one warms up
      alignas(64) std::atomic<bool> begun{false};
      auto const start = Clock::now();
      auto end = start;
      nigh::fork_join(
          [&] {
            while (!begun.load(std::memory_order_acquire) &&  // (probes.S)
                   Clock::now() - start < std::chrono::seconds(1)) {
            }
            end = Clock::now();
          },
          [&] { begun.store(true, std::memory_order_release); });  // (probes.S)
      if (s >= 0) times.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    }
  });
  return times;
}

namespace {

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

double cpus_used_while_asleep(double seconds, int settle_ms) {
  using Clock = std::chrono::steady_clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(settle_ms));
  auto const start = Clock::now();
  double const before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  double const burnt = cpu_seconds() - before;
  return burnt / std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace bench
