// SPDX-License-Identifier: Apache-2.0
#pragma once
// NIGH_OLD(name, version): calls of this function, as the linked library makes them, mean that
// version of glibc's. At file scope.

#if defined(__x86_64__)
#define NIGH_BASE "GLIBC_2.2.5"
#define NIGH_BASE_DLADDR1 "GLIBC_2.3.3"
#define NIGH_BASE_CANCEL "GLIBC_2.3.3"
#define NIGH_BASE_AFFINITY "GLIBC_2.3.4"
#define NIGH_BASE_SETNAME "GLIBC_2.12"
#define NIGH_JUMP(to) "jmp *" to "@GOTPCREL(%rip)\n"
#elif defined(__aarch64__)
#define NIGH_BASE "GLIBC_2.17"
#define NIGH_BASE_DLADDR1 "GLIBC_2.17"
#define NIGH_BASE_CANCEL "GLIBC_2.17"
#define NIGH_BASE_AFFINITY "GLIBC_2.17"
#define NIGH_BASE_SETNAME "GLIBC_2.17"
#define NIGH_JUMP(to) "adrp x16, :got:" to "\nldr x16, [x16, :got_lo12:" to "]\nbr x16\n"
#else
#error "which versions are the old ones here?"
#endif

#define NIGH_OLD(name, version) NIGH_OLD_AS(name, name, version)
// The same, by another name that the function has.
#define NIGH_OLD_AS(name, other, version)                                                     \
  __asm__(".pushsection .text\n.symver nigh_old_" name "," other "@" version "\n.globl " name \
          "\n.hidden " name "\n.type " name ",%function\n" name                               \
          ":\n" NIGH_JUMP("nigh_old_" name) ".size " name ",.-" name "\n.popsection");

// Defines a function that glibc did not have then, for our own calls alone.
#define NIGH_NEW extern "C" __attribute__((visibility("hidden")))
