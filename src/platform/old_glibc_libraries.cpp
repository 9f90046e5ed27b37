// SPDX-License-Identifier: Apache-2.0
// As old_glibc.cpp, for programs and libraries that have other libraries in them (NIGH_PORTABLE):
// the functions that those call.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "platform/old_glibc.hpp"

NIGH_OLD("dlclose", NIGH_BASE)
NIGH_OLD("dlerror", NIGH_BASE)
NIGH_OLD("exp", NIGH_BASE)
NIGH_OLD("log2", NIGH_BASE)
NIGH_OLD("pthread_attr_getstack", NIGH_BASE)
NIGH_OLD("pthread_attr_setstacksize", NIGH_BASE)
NIGH_OLD("pthread_create", NIGH_BASE)
NIGH_OLD("pthread_detach", NIGH_BASE)
NIGH_OLD("pthread_getattr_np", NIGH_BASE)
NIGH_OLD("pthread_getcpuclockid", NIGH_BASE)
NIGH_OLD("pthread_join", NIGH_BASE)
NIGH_OLD("pthread_rwlock_destroy", NIGH_BASE)
NIGH_OLD("pthread_rwlock_init", NIGH_BASE)
NIGH_OLD("pthread_rwlock_tryrdlock", NIGH_BASE)
NIGH_OLD("pthread_setname_np", NIGH_BASE_SETNAME)
NIGH_OLD("pthread_sigmask", NIGH_BASE)
NIGH_OLD("pthread_getaffinity_np", NIGH_BASE_AFFINITY)
NIGH_OLD("pthread_setaffinity_np", NIGH_BASE_AFFINITY)

// 2.33; before, they were inline.
NIGH_NEW int stat(char const* path, struct stat* what) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, what, 0));
}
NIGH_NEW int lstat(char const* path, struct stat* what) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, what, AT_SYMLINK_NOFOLLOW));
}

NIGH_NEW int fstatat(int folder, char const* path, struct stat* what, int flags) {
  return static_cast<int>(syscall(SYS_newfstatat, folder, path, what, flags));
}
// The static libraries call it by this name; the struct is the same on these processors.
NIGH_NEW int nigh_fstat64(int descriptor, void* what) __asm__("fstat64");
int nigh_fstat64(int descriptor, void* what) {
  return static_cast<int>(syscall(SYS_fstat, descriptor, what));
}

// 2.34, and Linux 5.9. It may be called between fork and exec, so nothing is allocated.
NIGH_NEW int close_range(unsigned first, unsigned last, int flags) noexcept {
  constexpr long number = 436;  // on all processors
  auto const done = static_cast<int>(syscall(number, first, last, flags));
  if (done == 0 || errno != ENOSYS || flags != 0) return done;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  auto const end = std::min<rlim_t>(limit.rlim_cur, rlim_t{last} + 1);
  for (rlim_t one = first; one < end; ++one) close(static_cast<int>(one));
  return 0;
}

// 2.34. Without it, the descriptors that are open now are closed in the child. One that is closed
// until then does no harm: closing it is no error there.
NIGH_NEW int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t* actions,
                                                      int first) noexcept {
  using Real = int (*)(posix_spawn_file_actions_t*, int);
  if (auto const real =
          reinterpret_cast<Real>(dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np")))
    return real(actions, first);
  DIR* const open = opendir("/proc/self/fd");
  if (open == nullptr) return errno;
  int failed = 0;
  while (dirent const* const entry = readdir(open)) {
    int const one = std::atoi(entry->d_name);
    if (one < first || one == dirfd(open)) continue;
    failed = posix_spawn_file_actions_addclose(actions, one);
    if (failed != 0) break;
  }
  closedir(open);
  return failed;
}

// 2.30. Without it, a wait ends by the clock of the day: early or late when somebody sets that
// clock.
NIGH_NEW int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                    clockid_t clock, timespec const* until) {
  using Real = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, timespec const*);
  static auto const real = reinterpret_cast<Real>(dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"));
  if (real != nullptr) return real(condition, mutex, clock, until);
  timespec now{};
  timespec today{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &today);
  constexpr long second = 1'000'000'000;
  timespec end{today.tv_sec + until->tv_sec - now.tv_sec,
               today.tv_nsec + until->tv_nsec - now.tv_nsec};
  for (; end.tv_nsec < 0; end.tv_nsec += second) --end.tv_sec;
  for (; end.tv_nsec >= second; end.tv_nsec -= second) ++end.tv_sec;
  return pthread_cond_timedwait(condition, mutex, &end);
}
