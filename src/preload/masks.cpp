// SPDX-License-Identifier: Apache-2.0
// A program reads its threads' masks to learn how many cpus there are. Those of a thread that
// stands on a place of ours are all cpus of the places, as before it was put there. Once it has set
// its own, those are shown.

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "preload/places.hpp"

namespace {

using nigh::preload::Next;

constinit Next next_get{"sched_getaffinity"}, next_get_thread{"pthread_getaffinity_np"},
    next_set{"sched_setaffinity"}, next_set_thread{"pthread_setaffinity_np"},
    next_syscall{"syscall"};

int get(pid_t thread, std::size_t size, cpu_set_t* cpus) noexcept {
  return reinterpret_cast<decltype(&get)>(next_get.address())(thread, size, cpus);
}
int get_thread(pthread_t thread, std::size_t size, cpu_set_t* cpus) noexcept {
  return reinterpret_cast<decltype(&get_thread)>(next_get_thread.address())(thread, size, cpus);
}
int set(pid_t thread, std::size_t size, cpu_set_t const* cpus) noexcept {
  return reinterpret_cast<decltype(&set)>(next_set.address())(thread, size, cpus);
}
int set_thread(pthread_t thread, std::size_t size, cpu_set_t const* cpus) noexcept {
  return reinterpret_cast<decltype(&set_thread)>(next_set_thread.address())(thread, size, cpus);
}

// Of the first `bytes`, which the system has written.
void hide(cpu_set_t const* place, std::size_t bytes, void* cpus) noexcept {
  if (place == nullptr) return;
  cpu_set_t now;
  CPU_ZERO(&now);
  memcpy(&now, cpus, std::min(bytes, sizeof now));
  if (CPU_EQUAL(&now, place))
    memcpy(cpus, nigh::preload::all_places(), std::min(bytes, sizeof(cpu_set_t)));
}

}  // namespace

namespace nigh::preload {

bool read_mask(cpu_set_t& cpus) noexcept { return get(0, sizeof cpus, &cpus) == 0; }
bool read_mask_of(pthread_t thread, cpu_set_t& cpus) noexcept {
  return get_thread(thread, sizeof cpus, &cpus) == 0;
}
bool set_mask(cpu_set_t const& cpus) noexcept { return set(0, sizeof cpus, &cpus) == 0; }
bool set_mask_of(pthread_t thread, cpu_set_t const& cpus) noexcept {
  return set_thread(thread, sizeof cpus, &cpus) == 0;
}

}  // namespace nigh::preload

NIGH_INTERPOSED int sched_getaffinity(pid_t thread, std::size_t size, cpu_set_t* cpus) noexcept {
  int const refused = get(thread, size, cpus);
  if (refused == 0) hide(nigh::preload::place_of(thread), size, cpus);
  return refused;
}

NIGH_INTERPOSED int pthread_getaffinity_np(pthread_t thread, std::size_t size,
                                           cpu_set_t* cpus) noexcept {
  int const refused = get_thread(thread, size, cpus);
  if (refused == 0) hide(nigh::preload::place_of_thread(thread), size, cpus);
  return refused;
}

NIGH_INTERPOSED int sched_setaffinity(pid_t thread, std::size_t size,
                                      cpu_set_t const* cpus) noexcept {
  int const refused = set(thread, size, cpus);
  if (refused == 0) nigh::preload::forget_place_of(thread);
  return refused;
}

NIGH_INTERPOSED int pthread_setaffinity_np(pthread_t thread, std::size_t size,
                                           cpu_set_t const* cpus) noexcept {
  int const refused = set_thread(thread, size, cpus);
  if (refused == 0) nigh::preload::forget_place_of_thread(thread);
  return refused;
}

// libomp calls by number. All other calls have to reach the C library with registers and stack as
// they are, for a new thread may return from one.
#if defined(__x86_64__) || defined(__aarch64__)
extern "C" {

NIGH_HIDDEN void* nigh_next_syscall = nullptr;

// The arguments of syscall() as most it has; it takes them from where a function of seven does.
[[gnu::used]] NIGH_HIDDEN long nigh_first_syscall(long number, long a, long b, long c, long d,
                                                  long e, long f) {
  using Call = long(long, ...);
  nigh_next_syscall = next_syscall.address();
  return reinterpret_cast<Call*>(nigh_next_syscall)(number, a, b, c, d, e, f);
}

[[gnu::used]] NIGH_HIDDEN long nigh_mask_by_number(long number, long thread, std::size_t size,
                                                   void* cpus) {
  using Call = long(long, ...);
  auto* const call = reinterpret_cast<Call*>(next_syscall.address());
  auto const of = static_cast<pid_t>(thread);
  long const result = call(number, thread, size, cpus);
  if (number == SYS_sched_getaffinity && result > 0)
    hide(nigh::preload::place_of(of), static_cast<std::size_t>(result), cpus);
  if (number == SYS_sched_setaffinity && result == 0) nigh::preload::forget_place_of(of);
  return result;
}

}  // extern "C"
#if defined(__x86_64__)
static_assert(SYS_sched_setaffinity == 203 && SYS_sched_getaffinity == 204);
__asm__(R"(
  .text
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  leaq -203(%rdi), %rax
  cmpq $1, %rax
  jbe nigh_mask_by_number
  movq nigh_next_syscall(%rip), %rax
  testq %rax, %rax
  je nigh_first_syscall
  jmp *%rax
  .cfi_endproc
  .size syscall, .-syscall
)");
#else
static_assert(SYS_sched_setaffinity == 122 && SYS_sched_getaffinity == 123);
__asm__(R"(
  .text
  .globl syscall
  .type syscall, %function
syscall:
  .cfi_startproc
  hint 34
  sub x16, x0, 122
  cmp x16, 1
  b.ls nigh_mask_by_number
  adrp x16, nigh_next_syscall
  ldr x16, [x16, :lo12:nigh_next_syscall]
  cbz x16, nigh_first_syscall
  br x16
  .cfi_endproc
  .size syscall, .-syscall
)");
#endif
#endif

// Later another thread may be in dlopen(), and the first call by number may be one from which a new
// thread returns.
__attribute__((constructor)) static void look_up() {
  for (Next* const next : {&next_get, &next_get_thread, &next_set, &next_set_thread, &next_syscall})
    static_cast<void>(next->address());
#if defined(__x86_64__) || defined(__aarch64__)
  nigh_next_syscall = next_syscall.address();
#endif
}
