// SPDX-License-Identifier: Apache-2.0
#pragma once
// A write beyond the limit of a file's size (ulimit -f) raises SIGXFSZ, which ends the process.
// While one of these is alive, such a write of this thread only fails: the process is another's
// program. By system calls alone, for a program may have functions of its own by the C library's
// names.

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace nigh::platform {

class NoSizeSignal {
 public:
  NoSizeSignal() noexcept {
    Set pending = 0;
    syscall(SYS_rt_sigpending, &pending, sizeof pending);
    had_come_ = (pending & only) != 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &only, &before_, sizeof only);
  }
  ~NoSizeSignal() {
    int const of_the_write = errno;
    timespec const at_once{};
    if (!had_come_) syscall(SYS_rt_sigtimedwait, &only, nullptr, &at_once, sizeof only);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_);
    errno = of_the_write;
  }
  NoSizeSignal(NoSizeSignal&&) = delete;
  NoSizeSignal& operator=(NoSizeSignal&&) = delete;

 private:
  using Set = std::uint64_t;  // as the kernel has it
  static constexpr Set only = Set{1} << (SIGXFSZ - 1U);

  Set before_ = 0;
  bool had_come_ = false;
};

}  // namespace nigh::platform
