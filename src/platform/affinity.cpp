// SPDX-License-Identifier: Apache-2.0
#include "platform/affinity.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

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

// Cpus in the OpenMP runtime's places; none without a runtime or when it does not bind.
std::vector<int> cpus_of_openmp_places() {
  auto const find = [](char const* name) { return ::dlsym(RTLD_DEFAULT, name); };
  auto const places = reinterpret_cast<int (*)()>(find("omp_get_num_places"));
  auto const size_of = reinterpret_cast<int (*)(int)>(find("omp_get_place_num_procs"));
  auto const list = reinterpret_cast<void (*)(int, int*)>(find("omp_get_place_proc_ids"));
  std::vector<int> cpus;
  if (places == nullptr || size_of == nullptr || list == nullptr) return cpus;
  for (int place = 0; place < places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(std::max(size_of(place), 0)));
    list(place, ids.data());
    cpus.insert(cpus.end(), ids.begin(), ids.end());
  }
  return cpus;
}

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

std::vector<int> affinity_of_this_thread() { return affinity_of_thread(0); }

std::vector<int> affinity_of_thread(int thread) {
  for (int count = 1024; count <= max_cpus;
       count *= 4) {  // the kernel refuses masks that are too short
    cpu_mask const mask(CPU_ALLOC(static_cast<std::size_t>(count)));
    auto const bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    if (::sched_getaffinity(thread, bytes, mask.get()) != 0) {
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

std::vector<int> cpus_given() {
  std::vector<int> cpus = affinity_of_this_thread();
  if (cpus.empty()) return cpus;
  std::vector<int> const bound = cpus_of_openmp_places();
  cpus.insert(cpus.end(), bound.begin(), bound.end());
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

int current_cpu() noexcept { return ::sched_getcpu(); }
int online_cpus() noexcept { return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); }

}  // namespace nigh::platform
