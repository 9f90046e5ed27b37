// SPDX-License-Identifier: Apache-2.0
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "platform/limits.hpp"

namespace nigh::platform {
namespace {

std::string reason() { return std::strerror(errno); }

std::string try_hardware_counters() {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = PERF_COUNT_HW_CPU_CYCLES;
  wanted.disabled = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  long const file = ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0UL);
  if (file < 0) return reason();
  ::close(static_cast<int>(file));
  return {};
}

}  // namespace

probes probe_system() {
  probes answers;
  answers.hardware_counters = try_hardware_counters();

  auto const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    answers.bind_memory = answers.locate_pages = reason();
  } else {
    // Asking for the default policy changes nothing, and is refused where any policy would be.
    constexpr int default_policy = 0;
    if (::syscall(SYS_mbind, page, bytes, default_policy, nullptr, 0UL, 0U) != 0)
      answers.bind_memory = reason();
    int node = 0;
    if (::syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &node, 0) != 0)
      answers.locate_pages = reason();
    ::munmap(page, bytes);
  }

  rlimit lockable{};
  if (::getrlimit(RLIMIT_MEMLOCK, &lockable) == 0 && lockable.rlim_cur != RLIM_INFINITY)
    answers.lockable_bytes = lockable.rlim_cur;
  return answers;
}

}  // namespace nigh::platform
