// SPDX-License-Identifier: Apache-2.0
// scan STEPS: two loops and a tree of tasks, again and again; the program of docs/report.md.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void fill(std::vector<double>& a) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < static_cast<long>(a.size()); ++i)
    a[i] = std::sin(0.001 * static_cast<double>(i));
}

double norm(std::vector<double> const& a) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < static_cast<long>(a.size()); ++i)
    sum += std::sqrt(std::fabs(a[i])) * std::exp(a[i]);
  return sum;
}

long fib(int n) {
  if (n < 2) return n;
  if (n < 18) return fib(n - 1) + fib(n - 2);
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  int const steps = argc > 1 ? std::atoi(argv[1]) : 10;
  std::vector<double> a(4 << 20);
  double sum = 0;
  long f = 0;
  for (int s = 0; s < steps; ++s) {
    fill(a);
    sum += norm(a);
#pragma omp parallel
#pragma omp single
    f += fib(27);
  }
  std::printf("%.6f %ld\n", sum, f);
}
