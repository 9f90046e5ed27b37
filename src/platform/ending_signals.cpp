// SPDX-License-Identifier: Apache-2.0
#include "platform/ending_signals.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "base/atomic.hpp"
#include "platform/futex.hpp"
#include "platform/thread.hpp"

namespace nigh::platform {
namespace {

constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};

// Of the pipe that takes a signal's number from the handler to the thread. Both are stored before
// a handler is installed, and the system orders that before every call of it.
sync::atomic<int> end_to_write{-1};
sync::atomic<pid_t> watched_process{0};

// When the first signal came, in milliseconds; 0: none did. One that was sent to the process and to
// its group, as timeout(1) and a supervisor do, comes twice.
sync::atomic<std::int64_t> first_came{0};
constexpr std::int64_t same_signal = 500;

std::int64_t now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * std::int64_t{1000} + t.tv_nsec / 1'000'000;
}

void end_by(int signal) noexcept {
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

// The code behind raise() is not reached, as where the signal ends the program by itself. Not for
// ever: a thread that another one interrupts by a signal may hold what the last words need.
void await_the_end() noexcept {
  constexpr std::int64_t patience = 10'000;
  static constinit sync::atomic<std::uint32_t> never{0};
  for (auto const begin = now(); now() - begin < patience;)
    futex_wait_for(never, 0, patience * 1'000'000);
}

// Only what is safe in a handler.
void hear(int signal, siginfo_t* from, void* /*context*/) {
  auto const error = errno;
  std::int64_t first = 0;
  auto const came = now();
  if (watched_process.load(sync::relaxed) != ::getpid()) {  // a child, without our thread
    end_by(signal);
  } else if (first_came.compare_exchange_strong(first, came, sync::relaxed)) {
    auto const byte = static_cast<char>(signal);
    if (::write(end_to_write.load(sync::relaxed), &byte, 1) != 1) end_by(signal);
    if (from->si_code <= 0 && from->si_pid == ::getpid()) await_the_end();
  } else if (came - first > same_signal) {
    end_by(signal);
  }
  errno = error;
}

// For the thread. Not on the heap: a child of fork() has no thread that would free it.
int end_to_read = -1;
void (*last_words)() = nullptr;

void* wait_and_end(void* /*nothing*/) {
  leave_signals_to_others();
  char signal = 0;
  while (::read(end_to_read, &signal, 1) < 0 && errno == EINTR) {
  }
  last_words();
  end_by(signal);
  return nullptr;
}

void watch(void (*last)(), CreateThread* create) noexcept {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  end_to_write.store(ends[1], sync::relaxed);
  watched_process.store(::getpid(), sync::relaxed);
  end_to_read = ends[0];
  last_words = last;
  pthread_t thread{};
  // No room for a thread: signals end the program as before.
  if (create(&thread, nullptr, wait_and_end, nullptr) != 0) return;
  ::pthread_detach(thread);
  for (int const signal : signals) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction ours{};
    ours.sa_sigaction = hear;
    ours.sa_flags = SA_SIGINFO | SA_RESTART;  // calls of the system that are under way go on
    sigemptyset(&ours.sa_mask);
    ::sigaction(signal, &ours, nullptr);
  }
}

}  // namespace

void before_ending_signals(void (*last)(), CreateThread* create) noexcept {
  static constinit sync::atomic<bool> is_watched{false};
  if (!is_watched.exchange(true, sync::relaxed)) watch(last, create);
}

void ignore_broken_pipes() noexcept {
  struct sigaction now{};
  if (::sigaction(SIGPIPE, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
      now.sa_handler == SIG_DFL)
    ::signal(SIGPIPE, SIG_IGN);
}

}  // namespace nigh::platform
