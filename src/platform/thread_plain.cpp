// SPDX-License-Identifier: Apache-2.0
// The part of thread.hpp that preloaded libraries use, too: it calls libc alone.

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "platform/thread.hpp"

namespace nigh::platform {

void leave_signals_to_others() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

void yield() noexcept { sched_yield(); }

void* map_zeroes(std::size_t bytes) noexcept {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

void unmap(void* at, std::size_t bytes) noexcept { munmap(at, bytes); }

}  // namespace nigh::platform
