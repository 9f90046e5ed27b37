// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the calling thread may run: "0,2".

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

inline std::string allowed() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);  // the kernel's answer: the library's would be what there was before
  if (syscall(SYS_sched_getaffinity, 0, sizeof cpus, &cpus) < 0) return "?";
  std::string text;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(static_cast<std::size_t>(c), &cpus))
      text += (text.empty() ? "" : ",") + std::to_string(c);
  return text;
}
