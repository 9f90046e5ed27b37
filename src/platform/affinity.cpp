// SPDX-License-Identifier: Apache-2.0
#include "platform/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

namespace nigh::platform {
namespace {

struct free_cpu_set {
  void operator()(cpu_set_t* s) const noexcept { CPU_FREE(s); }
};
using cpu_mask = std::unique_ptr<cpu_set_t, free_cpu_set>;

constexpr int max_cpus = 1 << 16;

}  // namespace

result<void> pin_this_thread(std::span<int const> cpus) {
  int highest = 0;
  for (int cpu : cpus) highest = std::max(highest, cpu);
  auto const count = static_cast<std::size_t>(highest) + 1;
  cpu_mask const mask(CPU_ALLOC(count));
  auto const bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, mask.get());
  for (int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask.get());
  if (::sched_setaffinity(0, bytes, mask.get()) == 0) return {};
  return error{std::string("cannot pin a thread: ") + std::strerror(errno)};
}

std::vector<int> affinity_of_this_thread() {
  for (int count = 1024; count <= max_cpus;
       count *= 4) {  // the kernel refuses masks that are too short
    cpu_mask const mask(CPU_ALLOC(static_cast<std::size_t>(count)));
    auto const bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    if (::sched_getaffinity(0, bytes, mask.get()) != 0) {
      if (errno == EINVAL) continue;
      return {};
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < count; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.get())) cpus.push_back(cpu);
    return cpus;
  }
  return {};
}

int current_cpu() noexcept { return ::sched_getcpu(); }

}  // namespace nigh::platform
