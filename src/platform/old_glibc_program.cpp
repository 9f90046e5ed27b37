// SPDX-License-Identifier: Apache-2.0
// As old_glibc.cpp, for a whole program (NIGH_PORTABLE): its start, and the functions that it and the static
// libraries in it call.

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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
NIGH_OLD("pthread_join", NIGH_BASE)
NIGH_OLD("pthread_sigmask", NIGH_BASE)
NIGH_OLD("pthread_getaffinity_np", NIGH_BASE_AFFINITY)
NIGH_OLD("pthread_setaffinity_np", NIGH_BASE_AFFINITY)

#define NIGH_NEW extern "C" __attribute__((visibility("hidden")))

// 2.33; before, they were inline.
NIGH_NEW int stat(char const* path, struct stat* what) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, what, 0));
}
NIGH_NEW int lstat(char const* path, struct stat* what) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, what, AT_SYMLINK_NOFOLLOW));
}

// 2.34. Before that, a program's own code ran its constructors, and glibc was told where that code is.
extern "C" {
using Main = int (*)(int, char**, char**);
using Constructor = void (*)(int, char**, char**);
int nigh_old_start(Main, int, char**, Constructor, void (*)(), void (*)(), void*);
void _init();
extern Constructor const __preinit_array_start[] __attribute__((visibility("hidden")));
extern Constructor const __preinit_array_end[] __attribute__((visibility("hidden")));
extern Constructor const __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor const __init_array_end[] __attribute__((visibility("hidden")));
}
__asm__(".symver nigh_old_start,__libc_start_main@" NIGH_BASE);

namespace {

void construct(int count, char** words, char** variables) {
  for (auto const* one = __preinit_array_start; one != __preinit_array_end; ++one)
    (*one)(count, words, variables);
  _init();
  for (auto const* one = __init_array_start; one != __init_array_end; ++one)
    (*one)(count, words, variables);
}

}  // namespace

NIGH_NEW int __libc_start_main(Main main, int count, char** words, Constructor, void (*)(),
                               void (*loader_ends)(), void* stack_end) {
  return nigh_old_start(main, count, words, construct, nullptr, loader_ends, stack_end);
}
