// SPDX-License-Identifier: Apache-2.0
#pragma once
// A real refusal by the kernel: a system call that this thread, and threads it starts from then on,
// may not make.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace nigh::test {

template <std::size_t n>
void install_filter(sock_filter (&code)[n]) {
  sock_fprog const program{n, code};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::abort();
}

// Neither can be undone for this thread: call them in a thread of its own (see without_call()).
inline void deny_call(long number, int reason) {
  sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(number)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(reason)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  install_filter(code);
}

// Only of so many bytes: sanitizers cannot live without mmap.
inline void deny_mmap_of(std::uint32_t bytes, int reason) {
  sock_filter code[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_mmap},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args[1])},  // the low half
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, bytes},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(reason)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  install_filter(code);
}

// Runs f in a thread that may not make the call.
template <class F>
void without_call(long number, int reason, F f) {
  std::thread([&] {
    deny_call(number, reason);
    f();
  }).join();
}

}  // namespace nigh::test
