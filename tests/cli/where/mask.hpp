// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's facts about the calling thread, for programs that report them to tests.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

// Cpus it may run on, "0,2". From a file: what sched_getaffinity() says is what nigh shows.
inline std::string allowed_cpus() {
  std::ifstream status("/proc/thread-self/status");
  std::string text;
  for (std::string line; std::getline(status, line);) {
    constexpr char name[] = "Cpus_allowed_list:";
    if (line.compare(0, sizeof name - 1, name) != 0) continue;
    char const* at = line.c_str() + sizeof name - 1;
    for (int used = 0, first = 0; std::sscanf(at, " %d%n", &first, &used) == 1;) {
      at += used;
      int last = first;
      if (std::sscanf(at, "-%d%n", &last, &used) == 1) at += used;
      for (; first <= last; ++first) text += (text.empty() ? "" : ",") + std::to_string(first);
      at += *at == ',' ? 1 : 0;
    }
  }
  return text;
}
