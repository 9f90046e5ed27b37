// SPDX-License-Identifier: Apache-2.0
#pragma once
// A thread with a stack of a chosen size, which std::thread cannot have.

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nigh/result.hpp>
#include <string_view>

namespace nigh::platform {

class Thread {
 public:
  // Runs body() in a new thread, with `stack_bytes` of stack: reserved, and backed by memory as far
  // as it is used. With a stack of the system's default size where it refuses this one: too large
  // under a limit on addresses, too small beside much thread-local data. An error if it refuses
  // both.
  static result<Thread> start(std::size_t stack_bytes, std::function<void()> body);

  void join() noexcept;

 private:
  explicit Thread(pthread_t handle) noexcept : handle_(handle) {}
  pthread_t handle_;
};

// The system gives no thread a smaller stack.
std::size_t least_stack_bytes() noexcept;

// Bytes between here and the lower end of the calling thread's stack; a large number when the
// system does not say.
std::size_t stack_left() noexcept;

// The clock that counts the cpu time of the calling thread. Other threads of the process may read
// it; once the thread has ended, it says 0. No system call.
int clock_of_this_thread() noexcept;
std::int64_t time_on_clock_ns(int clock) noexcept;
// Does that thread sleep in the system? False for one that wants to run and gets no cpu, for one
// that has ended, and where the system does not say.
bool is_asleep(int clock) noexcept;

// For debuggers, top and perf: the first 15 bytes count.
void name_this_thread(std::string_view name) noexcept;

// Signals to this process are for its other threads from now on.
void leave_signals_to_others() noexcept;

// Lets another thread have the cpu, if one wants it.
void yield() noexcept;

// `bytes` of zeroes, backed by memory as they are written; null when there is no room.
void* map_zeroes(std::size_t bytes) noexcept;
void unmap(void* at, std::size_t bytes) noexcept;

// Calls run() at the end of each thread that has asked for it, after the destructors of its
// thread_local variables. Never destroyed.
class AtThreadEnd {
 public:
  explicit AtThreadEnd(void (*run)()) noexcept;
  void ask() const noexcept;  // also in such a destructor; once is enough until run() is called

 private:
  pthread_key_t key_{};
  void (*run_)();
  bool has_key_;
};

// Calls before() ahead of every fork(), and one of the others after it.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

}  // namespace nigh::platform
