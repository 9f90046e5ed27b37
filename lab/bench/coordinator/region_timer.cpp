// SPDX-License-Identifier: Apache-2.0
// region-timer regions COUNT: what an empty parallel region takes to enter and leave, in ns; so
// many in a row, divided by their number. The others are medians of so many, each after a pause:
//
//   messages COUNT PAUSE_US   the same, each with more threads than the one before, so that its
//                             thread's lease is changed for another by a message
//   first COUNT PAUSE_US      the same, each the first of a new thread, which has no lease and is
//                             nowhere yet; the one before has given its own back when it ended
//   ping COUNT PAUSE_US       a message of a request's size to a process that sleeps until it
//                             comes, and an answer of a grant's
//   wake COUNT PAUSE_US       a process that sleeps is woken and writes a word
//
// Regions are spelt as compilers do, to be linked to any runtime.

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/echo_process.hpp"

namespace bench {

namespace {

// A second process that sleeps on a word in shared memory: what waking it takes at least, for
// whoever then waits awake for its answer there. A header alone, as echo_process.hpp.

class WakeProcess {
 public:
  // It forks, so it is made before threads are.
  WakeProcess() {
    void* const page =
        mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::runtime_error("there is no shared memory to be had");
    words_ = new (page) Words;
    other_ = fork();
    if (other_ == 0) answer();
    if (other_ < 0) throw std::runtime_error("there is no second process to be had");
  }
  ~WakeProcess() {
    tell(last);
    waitpid(other_, nullptr, 0);
    munmap(words_, sizeof(Words));
  }
  WakeProcess(WakeProcess&&) = delete;
  WakeProcess& operator=(WakeProcess&&) = delete;

  // Wakes it, and waits awake for what it says then.
  void ask() {
    tell(++asked_);
    while (words_->answer.load(std::memory_order_acquire) != asked_) {  // (region_timer.W)
    }
  }

 private:
  // (region_timer.W) A process that has read a word sees all that the other did before it wrote it.
  struct Words {
    alignas(64) std::atomic<std::uint32_t> question{0};
    alignas(64) std::atomic<std::uint32_t> answer{0};
  };
  static constexpr std::uint32_t last = UINT32_MAX;

  void tell(std::uint32_t what) {
    words_->question.store(what, std::memory_order_release);  // (region_timer.W)
    syscall(SYS_futex, &words_->question, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  [[noreturn]] void answer() {
    for (std::uint32_t said = 0; said != last;) {
      auto const now = words_->question.load(std::memory_order_acquire);  // (region_timer.W)
      if (now == said) {
        syscall(SYS_futex, &words_->question, FUTEX_WAIT, said, nullptr, nullptr, 0);
        continue;
      }
      said = now;
      words_->answer.store(said, std::memory_order_release);  // (region_timer.W)
    }
    _exit(0);
  }

  Words* words_ = nullptr;
  std::uint32_t asked_ = 0;
  pid_t other_ = -1;
};

}  // namespace

}  // namespace bench

extern "C" void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t request_bytes = 48, grant_bytes = 2082;

void body(void* data) { asm volatile("" : : "r"(data) : "memory"); }
void region(unsigned clause) { GOMP_parallel(body, nullptr, clause, 0); }

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// So that whoever is not busy has gone to sleep.
void pass_time(long us) {
  auto const start = Clock::now();
  while (ns_since(start) < static_cast<double>(us) * 1000) {
  }
}

template <class Function>
double median_ns(long count, long pause_us, Function const& function) {
  std::vector<double> samples;
  for (long i = 0; i < count; ++i) {
    pass_time(pause_us);
    auto const start = Clock::now();
    function(i);
    samples.push_back(ns_since(start));
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double regions_ns(long count) {
  for (int i = 0; i < 1000; ++i) region(0);
  auto const start = Clock::now();
  for (long i = 0; i < count; ++i) region(0);
  return ns_since(start) / static_cast<double>(count);
}

// The coordinator knows as many cpus, so a thread has not more messages of this kind.
constexpr unsigned most_threads = 1024;

double messages_ns(long count, long pause_us) {
  std::vector<double> samples;
  while (static_cast<long>(samples.size()) < count)
    std::thread([&] {
      region(2);
      for (unsigned k = 3; k <= most_threads && static_cast<long>(samples.size()) < count; ++k)
        samples.push_back(median_ns(1, pause_us, [k](long) { region(k); }));
    }).join();
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double first_ns(long count, long pause_us) {
  std::vector<double> samples;
  for (long i = 0; i < count; ++i)
    std::thread([&] { samples.push_back(median_ns(1, pause_us, [](long) { region(0); })); }).join();
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

double ping_ns(long count, long pause_us) {
  bench::EchoProcess other(grant_bytes);
  return median_ns(count, pause_us, [&](long) { other.ask(request_bytes); });
}

double wake_ns(long count, long pause_us) {
  bench::WakeProcess other;
  return median_ns(count, pause_us, [&](long) { other.ask(); });
}

int usage(char const* program, bool is_asked_for) {
  char const* const slash = std::strrchr(program, '/');
  std::fprintf(is_asked_for ? stdout : stderr,
               "Usage: %s regions COUNT\n       ... messages|first|ping|wake COUNT PAUSE_US\n",
               slash != nullptr ? slash + 1 : program);
  return is_asked_for ? 0 : 2;
}

}  // namespace

int main(int count, char** words) {
  std::string_view const what = count > 1 ? words[1] : "";
  long const times = count > 2 ? std::max(1L, std::atol(words[2])) : 0;
  long const pause_us = count > 3 ? std::max(0L, std::atol(words[3])) : 0;
  if (what == "regions" && count == 3)
    std::printf("%.1f\n", regions_ns(times));
  else if (what == "messages" && count == 4)
    std::printf("%.1f\n", messages_ns(times, pause_us));
  else if (what == "first" && count == 4)
    std::printf("%.1f\n", first_ns(times, pause_us));
  else if (what == "wake" && count == 4)
    std::printf("%.1f\n", wake_ns(times, pause_us));
  else if (what == "ping" && count == 4)
    std::printf("%.1f\n", ping_ns(times, pause_us));
  else
    return usage(words[0], what == "--help");
}
