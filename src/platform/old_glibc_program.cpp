// SPDX-License-Identifier: Apache-2.0
// As old_glibc.cpp, for the start of a whole program (NIGH_PORTABLE).

#include "platform/old_glibc.hpp"

// 2.34. Before that, a program's own code ran its constructors, and glibc was told where that code
// is.
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
