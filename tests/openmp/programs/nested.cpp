// SPDX-License-Identifier: Apache-2.0
// nested REPEATS [MASTERS [DRONES [WORD...]]]: a region whose threads begin regions, so many times.
// Each time a line with, of every thread of the outer one, what omp_get_max_threads() says there
// and where the threads of its inner one may run: "2(0 1) 2(2 3)". A number above 0 is a
// num_threads clause. Words before: flat begins no regions inside, levels=N calls
// omp_set_max_active_levels, nested=N omp_set_nested, threads=N omp_set_num_threads; sum prints
// sums instead.

#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

std::string allowed() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);  // the kernel's answer: the library's would be what there was before
  if (syscall(SYS_sched_getaffinity, 0, sizeof cpus, &cpus) < 0) return "?";
  std::string text;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(static_cast<std::size_t>(c), &cpus))
      text += (text.empty() ? "" : ",") + std::to_string(c);
  return text;
}

constexpr int most = 64, blocks = 12, rows = 50;
bool is_flat = false;
long sums[blocks];

std::string inner(int drones) {
  std::vector<std::string> where(most);
  int threads = 0;
  auto const body = [&] {
    where[static_cast<std::size_t>(omp_get_thread_num())] = allowed();
#pragma omp single
    threads = omp_get_num_threads();
  };
  std::string text = std::to_string(omp_get_max_threads()) + '(';
  if (is_flat) return text + allowed() + ')';
  if (drones > 0) {
#pragma omp parallel num_threads(drones)
    body();
  } else {
#pragma omp parallel
    body();
  }
  for (int k = 0; k < threads; ++k) text += (k > 0 ? " " : "") + where[static_cast<std::size_t>(k)];
  return text + ')';
}

void sum(int block) {
  long total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int row = 0; row < rows; ++row) total += row * block;
  sums[block] += total;
}

void outer(int drones, std::vector<std::string>& masters, bool sums_only) {
  if (sums_only) {
#pragma omp for
    for (int block = 0; block < blocks; ++block) sum(block);
    return;
  }
  std::string const mine = inner(drones);
  masters[static_cast<std::size_t>(omp_get_thread_num())] = mine;
#pragma omp single
  masters.resize(static_cast<std::size_t>(omp_get_num_threads()));
}

}  // namespace

int main(int count, char** words) {
  auto const number = [&](int i) { return i < count ? std::atoi(words[i]) : 0; };
  bool sums_only = false;
  for (int i = 4; i < count; ++i) {
    std::string const word = words[i];
    int const value = std::atoi(word.c_str() + word.find('=') + 1);
    if (word == "flat") is_flat = true;
    if (word == "sum") sums_only = true;
    if (word.starts_with("levels=")) omp_set_max_active_levels(value);
    if (word.starts_with("nested=")) omp_set_nested(value);
    if (word.starts_with("threads=")) omp_set_num_threads(value);
  }
  int const clause = number(2), drones = number(3);
  for (int i = 0; i < number(1); ++i) {
    std::vector<std::string> masters(most);
    if (clause > 0) {
#pragma omp parallel num_threads(clause)
      outer(drones, masters, sums_only);
    } else {
#pragma omp parallel
      outer(drones, masters, sums_only);
    }
    if (sums_only) continue;
    for (auto const& m : masters) std::printf("%s ", m.c_str());
    std::printf("levels %d max %d\n", omp_get_max_active_levels(), omp_get_max_threads());
  }
  for (long s : sums)
    if (sums_only) std::printf("%ld\n", s);
}
