// SPDX-License-Identifier: Apache-2.0
// Accesses whose number and places are known, for the locality meter to count. On a machine with
// nodes of two cpus each: for every node m, memory first touched on m; for every node c, a thread on
// c reads each word of it once and writes every eighth. Prints the lap, c and m of each.

#include <sched.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <nigh/locality_mark.h>

namespace {

constexpr std::size_t words = 1 << 16;
constexpr std::size_t bytes = words * sizeof(std::uint64_t);
constexpr int cpus_of_node = 2;

void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    std::perror("sched_setaffinity");
    std::exit(1);
  }
}

template <class F>
void on_cpu(int cpu, F&& body) {
  std::thread([&] {
    pin_to(cpu);
    body();
  }).join();
}

// One load, one store: what the compiler cannot merge, widen or drop.
std::uint64_t load(std::uint64_t const* p) {
  std::uint64_t value;
  __asm__ volatile("movq (%1), %0" : "=r"(value) : "r"(p) : "memory");
  return value;
}
void store(std::uint64_t* p, std::uint64_t value) {
  __asm__ volatile("movq %1, (%0)" : : "r"(p), "r"(value) : "memory");
}

std::uint64_t* fresh_pages() {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  madvise(p, bytes, MADV_NOHUGEPAGE);
  return static_cast<std::uint64_t*>(p);
}

}  // namespace

int main() {
  int const nodes = static_cast<int>(std::thread::hardware_concurrency()) / cpus_of_node;
  int lap = 0;
  for (int memory = 0; memory < nodes; ++memory) {
    std::uint64_t* const a = fresh_pages();
    on_cpu(memory * cpus_of_node, [&] {
      for (std::size_t i = 0; i < words; i += 512) store(&a[i], i);
    });
    NIGH_METER_RANGE(3, a, bytes);
    for (int node = 0; node < nodes; ++node)
      on_cpu(node * cpus_of_node + 1, [&] {
        NIGH_METER_START();
        for (std::size_t i = 0; i < words; ++i) {
          std::uint64_t const value = load(&a[i]);
          if (i % 8 == 0) store(&a[i], value + 1);
        }
        NIGH_METER_STOP(77);
        std::printf("lap=%d cpu_node=%d memory_node=%d loads=%zu stores=%zu\n", lap++, node, memory,
                    words, words / 8);
      });
    munmap(a, bytes);
  }
}
