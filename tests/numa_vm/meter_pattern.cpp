// SPDX-License-Identifier: Apache-2.0
// Accesses whose number and places are known, for the locality meter to count, on a machine with
// nodes of two cpus each. Prints for each lap how many there are, and in a table, by node of the
// cpu (rows) and node of the memory.

#include <nigh/locality_mark.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t page_words = 512;
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

std::uint64_t* fresh_pages(std::size_t words) {
  std::size_t const bytes = words * sizeof(std::uint64_t);
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  madvise(p, bytes, MADV_NOHUGEPAGE);
  return static_cast<std::uint64_t*>(p);
}

void touch(std::uint64_t* first, std::size_t words) {
  for (std::size_t i = 0; i < words; i += page_words) store(&first[i], i);
}

using Table = std::vector<std::vector<std::size_t>>;

void print(std::size_t loads, std::size_t stores, Table const& table) {
  std::printf("loads=%zu stores=%zu table=", loads, stores);
  for (auto const& row : table) {
    for (std::size_t const n : row) std::printf("%zu,", n);
    std::printf("/");
  }
  std::printf("\n");
}

// Memory of each node, read once and every eighth word of it written, from each node.
void pairs(int nodes) {
  constexpr std::size_t words = 128 * page_words;
  auto const n = static_cast<std::size_t>(nodes);
  for (int memory = 0; memory < nodes; ++memory) {
    std::uint64_t* const a = fresh_pages(words);
    on_cpu(memory * cpus_of_node, [&] { touch(a, words); });
    NIGH_METER_RANGE(3, a, words * sizeof *a);
    for (int node = 0; node < nodes; ++node) {
      on_cpu(node * cpus_of_node + 1, [&] {
        NIGH_METER_START();
        for (std::size_t i = 0; i < words; ++i) {
          std::uint64_t const value = load(&a[i]);
          if (i % 8 == 0) store(&a[i], value + 1);
        }
        NIGH_METER_STOP(77);
      });
      Table table(n, std::vector<std::size_t>(n));
      table[static_cast<std::size_t>(node)][static_cast<std::size_t>(memory)] = words + words / 8;
      print(words, words / 8, table);
    }
    munmap(a, words * sizeof *a);
  }
}

// A stencil on rows of one page: each node has a run of rows, and reads the row above and the row
// below each of its own. Only the halo is remote: one row of each neighbour.
void stencil(int nodes) {
  constexpr std::size_t rows_of_node = 8;
  auto const n = static_cast<std::size_t>(nodes);
  std::size_t const words = n * rows_of_node * page_words;
  std::uint64_t* const from = fresh_pages(2 * words);
  std::uint64_t* const to = from + words;
  NIGH_METER_RANGE(3, from, 2 * words * sizeof *from);
  auto const update_row = [&](std::size_t row) {
    bool const first = row == 0, last = row == n * rows_of_node - 1;
    for (std::size_t i = row * page_words; i < (row + 1) * page_words; ++i)
      store(&to[i], (first ? 0 : load(&from[i - page_words])) + load(&from[i]) +
                        (last ? 0 : load(&from[i + page_words])));
  };
  auto const in_every_node = [&](auto&& body) {
    std::vector<std::thread> threads;
    for (std::size_t node = 0; node < n; ++node)
      threads.emplace_back([&, node] {
        pin_to(static_cast<int>(node) * cpus_of_node);
        body(node * rows_of_node);
      });
    for (auto& t : threads) t.join();
  };
  in_every_node([&](std::size_t first_row) {
    touch(from + first_row * page_words, rows_of_node * page_words);
    touch(to + first_row * page_words, rows_of_node * page_words);
  });
  NIGH_METER_START();
  in_every_node([&](std::size_t first_row) {
    for (std::size_t row = first_row; row < first_row + rows_of_node; ++row) update_row(row);
  });
  NIGH_METER_STOP(77);

  Table table(n, std::vector<std::size_t>(n));
  for (std::size_t node = 0; node < n; ++node) {
    if (node > 0) table[node][node - 1] = page_words;
    if (node + 1 < n) table[node][node + 1] = page_words;
    // Loads of 3 rows and a store for each row, but what neighbours hold or what is not there.
    table[node][node] = (4 * rows_of_node - 2) * page_words;
  }
  print(3 * words - 2 * page_words, words, table);
}

}  // namespace

int main() {
  int const nodes = static_cast<int>(std::thread::hardware_concurrency()) / cpus_of_node;
  pairs(nodes);
  stencil(nodes);
}
