// SPDX-License-Identifier: Apache-2.0
// A function whose debug information names a file that would command a terminal.
#line 7 "evil\033[31m\n99 root \302\233.cpp"
extern "C" __attribute__((noinline)) int nigh_test_hostile(int n) { return n + 2; }
