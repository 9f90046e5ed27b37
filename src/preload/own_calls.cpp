// SPDX-License-Identifier: Apache-2.0
// Functions whose names ISO C leaves to programs, as connect(), poll() and open(). Where a program
// defines one, the loader gives it to every library that calls that name, and a preloaded library
// would run the program's code. So preloaded libraries call these, which are hidden in them and
// make the system call. None of them is a point where a thread is cancelled.
//
// tests/openmp/habits_test.py has the names that preloaded libraries still take from outside.

#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstddef>

// Under other names here, so that this does not depend on how headers declare them.
#define NIGH_OWN(result, name, ...)                                        \
  extern "C" __attribute__((visibility("hidden"))) result nigh_own_##name( \
      __VA_ARGS__) noexcept __asm__(#name);                                \
  result nigh_own_##name(__VA_ARGS__) noexcept

extern "C" {
long syscall(long number, ...) noexcept;
long __sysconf(int name) noexcept;
}

namespace {

constexpr int at_this_folder = -100;  // AT_FDCWD

template <class Result, class... Arguments>
Result call(long number, Arguments... arguments) noexcept {
  return static_cast<Result>(syscall(number, arguments...));
}

}  // namespace

// ---- sockets

NIGH_OWN(int, socket, int family, int type, int protocol) {
  return call<int>(SYS_socket, family, type, protocol);
}
NIGH_OWN(int, connect, int socket, void const* to, unsigned size) {
  return call<int>(SYS_connect, socket, to, size);
}
NIGH_OWN(int, shutdown, int socket, int how) { return call<int>(SYS_shutdown, socket, how); }
NIGH_OWN(int, getsockopt, int socket, int level, int name, void* value, unsigned* size) {
  return call<int>(SYS_getsockopt, socket, level, name, value, size);
}
NIGH_OWN(int, setsockopt, int socket, int level, int name, void const* value, unsigned size) {
  return call<int>(SYS_setsockopt, socket, level, name, value, size);
}
NIGH_OWN(long, send, int socket, void const* from, std::size_t size, int flags) {
  return call<long>(SYS_sendto, socket, from, size, flags, nullptr, 0L);
}
NIGH_OWN(long, recv, int socket, void* to, std::size_t size, int flags) {
  return call<long>(SYS_recvfrom, socket, to, size, flags, nullptr, nullptr);
}
NIGH_OWN(long, sendmsg, int socket, void const* message, int flags) {
  return call<long>(SYS_sendmsg, socket, message, flags);
}
NIGH_OWN(long, recvmsg, int socket, void* message, int flags) {
  return call<long>(SYS_recvmsg, socket, message, flags);
}
NIGH_OWN(int, poll, void* descriptors, unsigned long count, int timeout_ms) {
  timespec const patience{timeout_ms / 1000, timeout_ms % 1000 * 1'000'000L};
  return call<int>(SYS_ppoll, descriptors, count, timeout_ms < 0 ? nullptr : &patience, nullptr,
                   0L);
}

// ---- files

NIGH_OWN(int, open, char const* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  auto const mode = va_arg(rest, unsigned);  // not looked at, unless the flags ask for it
  va_end(rest);
  return call<int>(SYS_openat, at_this_folder, path, flags, mode);
}
NIGH_OWN(long, read, int file, void* to, std::size_t size) {
  return call<long>(SYS_read, file, to, size);
}
NIGH_OWN(long, pread, int file, void* to, std::size_t size, long at) {
  return call<long>(SYS_pread64, file, to, size, at);
}
NIGH_OWN(long, write, int file, void const* from, std::size_t size) {
  return call<long>(SYS_write, file, from, size);
}
NIGH_OWN(int, fcntl, int file, int what, ...) {
  va_list rest;
  va_start(rest, what);
  auto const value = va_arg(rest, long);
  va_end(rest);
  return call<int>(SYS_fcntl, file, what, value);
}
NIGH_OWN(int, ioctl, int file, unsigned long what, ...) {
  va_list rest;
  va_start(rest, what);
  auto const value = va_arg(rest, long);
  va_end(rest);
  return call<int>(SYS_ioctl, file, what, value);
}
NIGH_OWN(int, ftruncate, int file, long size) { return call<int>(SYS_ftruncate, file, size); }
NIGH_OWN(int, pipe2, int* ends, int flags) { return call<int>(SYS_pipe2, ends, flags); }
NIGH_OWN(int, memfd_create, char const* name, unsigned flags) {
  return call<int>(SYS_memfd_create, name, flags);
}
NIGH_OWN(int, access, char const* path, int mode) {
  return call<int>(SYS_faccessat, at_this_folder, path, mode);
}
NIGH_OWN(long, readlink, char const* path, char* to, std::size_t size) {
  return call<long>(SYS_readlinkat, at_this_folder, path, to, size);
}
NIGH_OWN(int, rename, char const* from, char const* to) {
  return call<int>(SYS_renameat2, at_this_folder, from, at_this_folder, to, 0L);
}
NIGH_OWN(int, unlink, char const* path) {
  return call<int>(SYS_unlinkat, at_this_folder, path, 0L);
}
NIGH_OWN(int, statx, int folder, char const* path, int flags, unsigned wanted, void* file) {
  return call<int>(SYS_statx, folder, path, flags, wanted, file);
}
NIGH_OWN(int, utimensat, int folder, char const* path, timespec const* times, int flags) {
  return call<int>(SYS_utimensat, folder, path, times, flags);
}
#ifdef NIGH_OWNS_CLOSE  // not where the library stands before the program's close()
NIGH_OWN(int, close, int file) { return call<int>(SYS_close, file); }
#endif

// ---- memory, processes

NIGH_OWN(void*, mmap, void* at, std::size_t size, int access, int flags, int file, long from) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, access, flags, file, from));
}
NIGH_OWN(int, munmap, void* at, std::size_t size) { return call<int>(SYS_munmap, at, size); }
NIGH_OWN(int, getpid) { return call<int>(SYS_getpid); }
NIGH_OWN(int, getppid) { return call<int>(SYS_getppid); }
NIGH_OWN(unsigned, geteuid) { return call<unsigned>(SYS_geteuid); }
NIGH_OWN(int, kill, int process, int signal) { return call<int>(SYS_kill, process, signal); }
NIGH_OWN(int, getrlimit, int what, void* limits) {
  return call<int>(SYS_prlimit64, 0L, what, nullptr, limits);
}
NIGH_OWN(int, getrusage, int whose, void* used) { return call<int>(SYS_getrusage, whose, used); }
NIGH_OWN(int, prctl, int what, ...) {
  va_list rest;
  va_start(rest, what);
  auto const a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long),
             d = va_arg(rest, long);
  va_end(rest);
  return call<int>(SYS_prctl, what, a, b, c, d);
}
NIGH_OWN(int, getentropy, void* to, std::size_t size) {
  if (call<long>(SYS_getrandom, to, size, 0L) == static_cast<long>(size)) return 0;
  errno = EIO;
  return -1;
}
NIGH_OWN(long, sysconf, int name) { return __sysconf(name); }
