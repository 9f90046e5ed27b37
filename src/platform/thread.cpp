// SPDX-License-Identifier: Apache-2.0
#include "platform/thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "platform/own_stack.hpp"

namespace nigh::platform {
namespace {

// The lower end of the calling thread's stack. Asked for once: it can take reading a file.
char const* stack_end() noexcept {
  thread_local char const* const end = own_stack().low;
  return end;
}

void* run_body(void* body) {
  std::unique_ptr<std::function<void()>> const f(static_cast<std::function<void()>*>(body));
  static_cast<void>(stack_end());  // which allocates, and work is not to
  (*f)();
  return nullptr;
}

}  // namespace

result<Thread> Thread::start(std::size_t stack_bytes, std::function<void()> body) {
  auto owned = std::make_unique<std::function<void()>>(std::move(body));
  pthread_t handle;
  int refused = 0;
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t bytes : {(stack_bytes + page - 1) / page * page, std::size_t{0}}) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    refused = bytes > 0 ? pthread_attr_setstacksize(&attributes, bytes) : 0;
    if (refused == 0) refused = pthread_create(&handle, &attributes, run_body, owned.get());
    pthread_attr_destroy(&attributes);
    if (refused == 0) {
      static_cast<void>(owned.release());  // run_body's now
      return Thread(handle);
    }
  }
  return nigh::error{std::string("cannot start a thread: ") + std::strerror(refused)};
}

std::size_t least_stack_bytes() noexcept {
  return static_cast<std::size_t>(std::max(sysconf(_SC_THREAD_STACK_MIN), 0L));
}

void Thread::join() noexcept { pthread_join(handle_, nullptr); }

std::size_t stack_left() noexcept {
  // Not a variable's address: the address sanitizer may keep variables elsewhere.
  auto const* const here = static_cast<char const*>(__builtin_frame_address(0));
  char const* const end = stack_end();
  return end != nullptr ? static_cast<std::size_t>(std::max<std::ptrdiff_t>(here - end, 0))
                        : std::numeric_limits<std::size_t>::max();
}

int clock_of_this_thread() noexcept {
  clockid_t clock{};
  return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : CLOCK_THREAD_CPUTIME_ID;
}

std::int64_t time_on_clock_ns(int clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Linux makes the clock's number of the thread's, by its interface. In the file the state follows
// the name, which stands in parentheses and may hold any of its own.
bool is_asleep(int clock) noexcept {
  char name[48];
  std::snprintf(name, sizeof name, "/proc/self/task/%d/stat", ~(clock >> 3));
  int const file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[128];
  auto const bytes = ::read(file, text, sizeof text);
  ::close(file);
  for (auto at = bytes - 3; at >= 0; --at)
    if (text[at] == ')') return text[at + 2] == 'S' || text[at + 2] == 'D';
  return false;
}

void name_this_thread(std::string_view name) noexcept {
  char cut[16] = "";
  name.copy(cut, sizeof cut - 1);
  pthread_setname_np(pthread_self(), cut);
}

AtThreadEnd::AtThreadEnd(void (*run)()) noexcept
    : run_(run), has_key_(::pthread_key_create(&key_, [](void* its_run) {
                            reinterpret_cast<void (*)()>(its_run)();
                          }) == 0) {}

void AtThreadEnd::ask() const noexcept {
  if (has_key_) ::pthread_setspecific(key_, reinterpret_cast<void*>(run_));
}

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  pthread_atfork(before, in_parent, in_child);
}

}  // namespace nigh::platform
