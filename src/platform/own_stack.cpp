// SPDX-License-Identifier: Apache-2.0
#include "platform/own_stack.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace nigh::platform {

Stack main_stack() noexcept {
  auto* const top = static_cast<char const* const*>(::dlsym(RTLD_DEFAULT, "__libc_stack_end"));
  rlimit limit{};
  if (top == nullptr || ::getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  constexpr rlim_t most = rlim_t{1} << 40U;  // where there is no limit, others lie far below
  auto const bytes = static_cast<std::size_t>(std::min(limit.rlim_cur, most));
  return {*top - bytes, bytes};
}

bool is_main_thread() noexcept { return ::syscall(SYS_gettid) == ::getpid(); }

Stack own_stack() noexcept {
  if (is_main_thread())
    if (Stack const main = main_stack(); main.holds(__builtin_frame_address(0))) return main;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  bool const is_known = ::pthread_attr_getstack(&attributes, &low, &bytes) == 0;
  ::pthread_attr_destroy(&attributes);
  return is_known ? Stack{static_cast<char const*>(low), bytes} : Stack{};
}

}  // namespace nigh::platform
