// SPDX-License-Identifier: Apache-2.0
// The loops of docs/from-openmp.md, before and after: a sum, a grid and an uneven loop, once with
// OpenMP and once with nigh, timed. Build with -fopenmp.

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t n = 4'000'000;
constexpr std::size_t side = 160;
constexpr std::size_t rows = 3000;

struct Data {
  std::vector<double> x = std::vector<double>(n, 0.5);
  std::vector<double> grid = std::vector<double>(side * side * side, 1);
  std::vector<double> next = std::vector<double>(side * side * side, 0);
  std::vector<double> sums = std::vector<double>(rows, 0);
};

std::size_t at(std::size_t i, std::size_t j, std::size_t k) { return (i * side + j) * side + k; }

double neighbours(std::vector<double> const& g, std::size_t i, std::size_t j, std::size_t k) {
  return g[at(i - 1, j, k)] + g[at(i + 1, j, k)] + g[at(i, j - 1, k)] + g[at(i, j + 1, k)] +
         g[at(i, j, k - 1)] + g[at(i, j, k + 1)];
}

double row(std::vector<double> const& x, std::size_t length) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += x[i];
  return sum;
}

namespace before {

double sum(Data const& d) {
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (std::size_t i = 0; i < n; ++i) total += d.x[i];
  return total;
}

void stencil(Data& d) {
#pragma omp parallel for collapse(2)
  for (std::size_t i = 1; i < side - 1; ++i)
    for (std::size_t j = 1; j < side - 1; ++j)
      for (std::size_t k = 1; k < side - 1; ++k)
        d.next[at(i, j, k)] = neighbours(d.grid, i, j, k) / 6;
}

void uneven(Data& d) {
#pragma omp parallel for schedule(guided)
  for (std::size_t i = 0; i < rows; ++i) d.sums[i] = row(d.x, rows - i);
}

}  // namespace before

namespace after {

double sum(Data const& d) {
  return nigh::parallel_reduce(
      std::size_t{0}, n, nigh::sum, [&](std::size_t i) { return d.x[i]; });
}

void stencil(Data& d) {
  nigh::parallel_for(nigh::box<3>{{1, 1, 1}, {side - 1, side - 1, side - 1}},
                     [&](std::size_t i, std::size_t j, std::size_t k) {
                       d.next[at(i, j, k)] = neighbours(d.grid, i, j, k) / 6;
                     });
}

void uneven(Data& d) {
  nigh::parallel_for(std::size_t{0}, rows, [&](std::size_t i) { d.sums[i] = row(d.x, rows - i); });
}

}  // namespace after

double milliseconds(std::function<void()> const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void compare(char const* what, std::function<void()> const& openmp,
             std::function<void()> const& nigh) {
  // Not in turn: idle threads of the one would be in the other's way for a while.
  std::vector<double> first, second;
  for (int part = 0; part < 5; ++part) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int n = 0; n < 5; ++n) first.push_back(milliseconds(openmp));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int n = 0; n < 5; ++n) second.push_back(milliseconds(nigh));
  }
  std::printf("%-8s OpenMP %7.3f ms   nigh %7.3f ms\n", what, median(first), median(second));
}

}  // namespace

int main() {
  Data d;
  if (before::sum(d) != n / 2 || after::sum(d) != n / 2) return 1;
  compare("sum", [&] { before::sum(d); }, [&] { after::sum(d); });
  compare("stencil", [&] { before::stencil(d); }, [&] { after::stencil(d); });
  compare("uneven", [&] { before::uneven(d); }, [&] { after::uneven(d); });
  return d.sums[0] == row(d.x, rows) && d.next[at(1, 1, 1)] == 1 ? 0 : 1;
}
