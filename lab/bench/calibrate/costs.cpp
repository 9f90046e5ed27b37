// SPDX-License-Identifier: Apache-2.0
// The costs of messages, meetings, tasks and of being preempted.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <stdexcept>
#include <thread>

#include "bench/calibrate/measure.hpp"
#include "bench/echo_process.hpp"
#include "bench/handshakes.hpp"
#include "bench/pin.hpp"
#include "bench/probes.hpp"
#include "bench/statistics.hpp"

namespace bench {

namespace {

struct Free {
  void operator()(double* p) const noexcept { std::free(p); }
};

// Two arrays whose pages lie where the pinned threads touched them first.
class Arrays {
 public:
  Arrays(PinnedThreads& owners, std::size_t bytes) : count_(bytes / sizeof(double) / 8 * 8) {
    for (auto* array : {&from_, &to_}) {
      constexpr std::size_t page = 4096;
      array->reset(
          static_cast<double*>(std::aligned_alloc(page, (bytes + page - 1) / page * page)));
      if (*array == nullptr) throw std::bad_alloc();
    }
    owners.run([&](int thread) {
      auto const t = static_cast<std::size_t>(thread);
      auto const n = static_cast<std::size_t>(owners.size());
      for (double* array : {from_.get(), to_.get()})
        std::memset(array + count_ * t / n, 1,
                    (count_ * (t + 1) / n - count_ * t / n) * sizeof *array);
    });
  }

  Samples gb_per_s(PinnedThreads& pinned, Stores stores, int repetitions) {
    double const moved = static_cast<double>(count_) * (stores == Stores::streaming ? 16 : 24);
    Samples samples;
    for (int n = -1; n < repetitions; ++n) {  // the first one warms up
      double const s = seconds_to_copy(pinned, from_.get(), to_.get(), count_, stores);
      if (n >= 0) samples.push_back(moved / s * 1e-9);
    }
    return samples;
  }

 private:
  std::size_t count_;
  std::unique_ptr<double, Free> from_, to_;
};

void append(Samples& all, Samples const& more) { all.insert(all.end(), more.begin(), more.end()); }

}  // namespace

Bandwidths measure_bandwidths(nigh::topology const& machine, Effort const& effort) {
  Bandwidths found;
  found.streaming = streaming_copy_available();
  auto const stores = found.streaming ? Stores::streaming : Stores::plain;
  for (int d = 0; d < machine.cpu_domains(); ++d) {
    auto const& cpus = machine.domains()[static_cast<std::size_t>(d)].cpus;
    PinnedThreads all(cpus), one({cpus.front()});
    Arrays near(all, effort.array_bytes);
    append(found.thread, near.gb_per_s(one, stores, effort.repetitions));
    append(found.controller, near.gb_per_s(all, stores, effort.repetitions));
    for (int other = 0; other < machine.cpu_domains(); ++other) {
      if (other == d) continue;
      auto const& there = machine.domains()[static_cast<std::size_t>(other)].cpus;
      PinnedThreads all_there(there), one_there({there.front()});
      append(found.thread_far, near.gb_per_s(one_there, stores, effort.repetitions));
      append(found.link, near.gb_per_s(all_there, stores, effort.repetitions));
    }
  }
  return found;
}

namespace {

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

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
