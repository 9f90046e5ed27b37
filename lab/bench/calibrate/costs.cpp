// SPDX-License-Identifier: Apache-2.0
// The costs of messages, meetings, tasks and of being preempted.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <stdexcept>
#include <thread>

#include "bench/calibrate/measure.hpp"
#include "bench/echo_process.hpp"
#include "bench/pin.hpp"
#include "bench/statistics.hpp"

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Returns when `all` are here, or after a second.
class Meeting {
 public:
  void open() noexcept { here_.store(0, std::memory_order_relaxed); }
  void attend(int all) noexcept {
    here_.fetch_add(1, std::memory_order_acq_rel);
    auto const start = Clock::now();
    while (here_.load(std::memory_order_acquire) < all)
      if (Clock::now() - start > std::chrono::seconds(1)) {
        missed_.store(true, std::memory_order_relaxed);
        return;
      }
  }
  bool missed() const noexcept { return missed_.load(std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<int> here_{0};
  alignas(64) std::atomic<bool> missed_{false};
};

// Keeps the compiler from seeing that nothing is done.
[[gnu::noinline]] void do_nothing(long n) { asm volatile("" : : "r"(n) : "memory"); }

void fork(int count, std::function<void()> const& body) {
  if (count == 1) return body();
  nigh::fork_join([&] { fork(count / 2, body); }, [&] { fork(count - count / 2, body); });
}

}  // namespace

Samples measure_messages(int repetitions) {
  constexpr int rounds = 500;
  constexpr std::size_t bytes = 64;
  EchoProcess other(bytes);
  Samples samples;
  for (int n = -1; n < repetitions; ++n) {  // the first one warms up
    Samples there_and_back;
    for (int i = 0; i < rounds; ++i) {
      auto const start = Clock::now();
      other.ask(bytes);
      there_and_back.push_back(ns_since(start));
    }
    if (n >= 0) samples.push_back(median_of(there_and_back) / 2);
  }
  return samples;
}

Samples measure_meetings(nigh::topology const& machine, int repetitions) {
  constexpr int rounds = 200;
  auto const threads = static_cast<int>(machine.cpus().size());
  if (threads < 2) return {};
  nigh::runtime_options options;
  options.machine = &machine;
  nigh::runtime runtime(options);
  Meeting meeting;
  std::function<void()> const body = [&] { meeting.attend(threads); };
  Samples samples;
  runtime.run([&] {
    for (int n = -1; n < repetitions; ++n) {
      Samples times;
      for (int i = 0; i < rounds; ++i) {
        meeting.open();
        auto const start = Clock::now();
        fork(threads, body);
        times.push_back(ns_since(start) / threads);
      }
      if (n >= 0) samples.push_back(median_of(times));
    }
  });
  if (meeting.missed()) throw std::runtime_error("not all cpus took part in a fork-join");
  return samples;
}

Samples measure_spawns(nigh::topology const& machine, int repetitions) {
  constexpr long rounds = 100'000;
  auto const ns_a_round = [](auto const& round) {
    auto const start = Clock::now();
    for (long n = 0; n < rounds; ++n) round(n);
    return ns_since(start) / rounds;
  };
  nigh::runtime runtime({.machine = &machine, .workers = 1});
  Samples samples;
  runtime.run([&] {
    for (int n = -1; n < repetitions; ++n) {  // the first one warms up
      double const called = ns_a_round([](long i) {
        do_nothing(i);
        do_nothing(i);
      });
      double const forked = ns_a_round(
          [](long i) { nigh::fork_join([i] { do_nothing(i); }, [i] { do_nothing(i); }); });
      if (n >= 0) samples.push_back(std::max(0.0, forked - called));
    }
  });
  return samples;
}

Samples measure_slices(int cpu, int repetitions) {
  constexpr double away_ns = 100e3;  // longer than an interrupt
  auto const until = Clock::now() + std::chrono::milliseconds(100 * repetitions);
  auto const spin = [&](Samples& stretches) {
    if (!pin_this_thread(cpu)) return;
    bool has_begun = false;  // a stretch whose begin was seen
    for (auto begin = Clock::now(), last = begin; last < until;) {
      auto const now = Clock::now();
      if (std::chrono::duration<double, std::nano>(now - last).count() > away_ns) {
        if (has_begun)
          stretches.push_back(std::chrono::duration<double, std::nano>(last - begin).count());
        has_begun = true;
        begin = now;
      }
      last = now;
    }
  };
  Samples mine, others;
  std::thread other([&] { spin(others); });
  std::thread me([&] { spin(mine); });
  other.join();
  me.join();
  mine.insert(mine.end(), others.begin(), others.end());
  return mine;
}

}  // namespace bench
