// SPDX-License-Identifier: Apache-2.0
// The Jacobi solver of locality queues (Wittmann and Hager 2009) with plain tasks: a task a block,
// made by a loop over k that the threads share, on memory that a static loop has touched first. A
// compiler that knows `affinity` says which block a task works on.
//
//   task-jacobi [SIZE [WORD...]]
//
//   single    one thread makes all tasks
//   count     says how many blocks ran in the domain of their memory, too
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "program.hpp"
#ifdef METERED  // for the locality meter of numa-vm
#include <nigh/locality_mark.h>
#else
#define NIGH_METER_RANGE(range, pointer, bytes) ((void)(range), (void)(pointer), (void)(bytes))
#define NIGH_METER_START() ((void)0)
#define NIGH_METER_STOP(label) ((void)(label))
#endif

namespace {

constexpr long block = 10;  // along j and k

bool is_single = false;  // one thread makes the tasks
bool counts_blocks = false;
std::atomic<long> local_blocks{0}, remote_blocks{0};

// By the kernel's word on where this thread runs and the page in the middle of the block lies.
void count_block(double* middle) {
  unsigned here = 0;
  int there = -1;
  auto* page =
      reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(middle) & ~std::uintptr_t{4095});
  syscall(SYS_getcpu, nullptr, &here, nullptr);
  syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &there, 0);
  ++(there == static_cast<int>(here) ? local_blocks : remote_blocks);
}

struct Grid {
  explicit Grid(long n)
      : side(n + 2), points(new double[static_cast<std::size_t>(side * side * side)]) {}
  double* row(long k, long j) { return points.get() + (k * side + j) * side; }
  // Of the block that begins at k and j. Its first plane may be the last one of another thread's.
  double* middle_row(long k, long j) { return row(std::min(k + block / 2, side - 2), j); }
  long side;  // with the boundary
  std::unique_ptr<double[]> points;
};

double start(long i, long j, long k, long side) {
  return static_cast<double>((i * 7 + j * 3 + k) % side) / static_cast<double>(side);
}

void fill(Grid& grid, Grid& other) {
#pragma omp parallel for schedule(static)
  for (long k = 0; k < grid.side; ++k)
    for (long j = 0; j < grid.side; ++j)
      for (long i = 0; i < grid.side; ++i)
        grid.row(k, j)[i] = other.row(k, j)[i] = start(i, j, k, grid.side);
}

void update(Grid& to, Grid& from, long k0, long j0) {
  if (counts_blocks) count_block(to.middle_row(k0, j0));
  long const n = from.side - 2;
  for (long k = k0; k < k0 + block && k <= n; ++k)
    for (long j = j0; j < j0 + block && j <= n; ++j) {
      double const *here = from.row(k, j), *near = from.row(k, j - 1), *far = from.row(k, j + 1),
                   *below = from.row(k - 1, j), *above = from.row(k + 1, j);
      double* const out = to.row(k, j);
      for (long i = 1; i <= n; ++i)
        out[i] = 0.4 * here[i] +
                 0.1 * (here[i - 1] + here[i + 1] + near[i] + far[i] + below[i] + above[i]);
    }
}

void make_tasks(Grid& to, Grid& from, long k) {
  for (long j = 1; j <= from.side - 2; j += block) {
#ifdef __clang__
    double* const row = to.middle_row(k, j);
#pragma omp task firstprivate(k, j) shared(to, from) affinity(row[0 : to.side])
#else
#pragma omp task firstprivate(k, j) shared(to, from)
#endif
    update(to, from, k, j);
  }
}

void sweep(Grid& to, Grid& from) {
  long const n = from.side - 2;
  if (is_single) {
#pragma omp parallel
#pragma omp single
    for (long k = 1; k <= n; k += block) make_tasks(to, from, k);
    return;
  }
#pragma omp parallel for schedule(static)
  for (long k = 1; k <= n; k += block) make_tasks(to, from, k);
}

void sweep_serially(Grid& to, Grid& from) {
  long const n = from.side - 2;
  for (long k = 1; k <= n; k += block)
    for (long j = 1; j <= n; j += block) update(to, from, k, j);
}

}  // namespace

int main(int argc, char** argv) {
  long const n = task_program::size_from(argc, argv, 160, {1, 1'000}, " [single] [count]");
  for (int i = 2; i < argc; ++i) {
    bool const counts = std::strcmp(argv[i], "count") == 0;
    if (!counts && std::strcmp(argv[i], "single") != 0)
      task_program::refuse(argv[0], argv[i], "single or count");
    (counts ? counts_blocks : is_single) = true;
  }
  constexpr int sweeps = 20;
  Grid a(n), b(n), c(n), d(n);
  fill(a, b);
  fill(c, d);
  Grid *to = &b, *from = &a;
  auto const bytes = static_cast<std::size_t>(a.side * a.side * a.side) * sizeof(double);
  NIGH_METER_RANGE(0, a.points.get(), bytes);
  NIGH_METER_RANGE(1, b.points.get(), bytes);
  NIGH_METER_START();
  double const seconds = task_program::timed([&] {
    for (int s = 0; s < sweeps; ++s) {
      sweep(*to, *from);
      std::swap(to, from);
    }
  });
  NIGH_METER_STOP(1);
  if (std::exchange(counts_blocks, false))
    std::printf("blocks %ld local %ld remote\n", local_blocks.load(), remote_blocks.load());
  Grid *other_to = &d, *other = &c;
  for (int s = 0; s < sweeps; ++s) {
    sweep_serially(*other_to, *other);
    std::swap(other_to, other);
  }
  bool right = true;
  for (long x = 0; x < from->side * from->side * from->side; ++x)
    right = right &&
            from->points[static_cast<std::size_t>(x)] == other->points[static_cast<std::size_t>(x)];
  return task_program::report(seconds, right);
}
