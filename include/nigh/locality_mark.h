/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* Marks for the locality meter (`numa-vm --meter`), for C and C++. They say what to count:
 *
 *   NIGH_METER_RANGE(0, grid, bytes);   accesses to this memory only; without ranges: all
 *   NIGH_METER_START();                 from here, by all threads
 *   sweep();
 *   NIGH_METER_STOP(1);                 to here; the report is printed under label 1
 *
 * A mark is a long no-op that a processor skips and the meter recognises, so marks may stay in a
 * program for good. On processors other than x86-64 they are nothing at all. This header needs no
 * other and no library.
 *
 * range: a constant, 0 .. 14. label: a constant, 0 .. 255. One thread sets ranges, starts and
 * stops, while the others do not touch the memory counted (before and after a parallel region,
 * say).
 */
#if defined(__x86_64__) && defined(__GNUC__)

/* nopl 0x4e47OOAA(%rax): "GN", operation OO, argument AA */
#define NIGH_METER_NOP_(op) ".byte 0x0f, 0x1f, 0x80, %c[arg], " #op ", 0x47, 0x4e\n\t"

#define NIGH_METER_START() __asm__ volatile(NIGH_METER_NOP_(1) : : [arg] "i"(0) : "memory")
#define NIGH_METER_STOP(label) __asm__ volatile(NIGH_METER_NOP_(2) : : [arg] "i"(label) : "memory")
/* Reads the range's first and last byte between two marks: so their addresses reach the meter. */
#define NIGH_METER_RANGE(range, pointer, bytes)                                          \
  do {                                                                                   \
    void const volatile* const nigh_first_ = (pointer);                                  \
    __SIZE_TYPE__ const nigh_bytes_ = (bytes);                                           \
    char nigh_byte_;                                                                     \
    __asm__ volatile(NIGH_METER_NOP_(3) "movb (%[first]), %[byte]\n\t"                 \
                     "movb -1(%[first], %[size]), %[byte]\n\t" NIGH_METER_NOP_(4)      \
                     : [byte] "=&q"(nigh_byte_)                                        \
                     : [arg] "i"(range), [first] "r"(nigh_first_), [size] "r"(nigh_bytes_) \
                     : "memory"); \
  } while (0)
/* Forgets all ranges. */
#define NIGH_METER_CLEAR() __asm__ volatile(NIGH_METER_NOP_(5) : : [arg] "i"(0) : "memory")

#else

#define NIGH_METER_START() ((void)0)
#define NIGH_METER_STOP(label) ((void)(label))
#define NIGH_METER_RANGE(range, pointer, bytes) ((void)(range), (void)(pointer), (void)(bytes))
#define NIGH_METER_CLEAR() ((void)0)

#endif
