// SPDX-License-Identifier: Apache-2.0
// Fourier transform by halves: a task each, and tasks for the parts of what joins them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "program.hpp"

namespace {

using Complex = std::complex<double>;
constexpr long alone = 1024;  // numbers that one task transforms or joins

Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// roots[k * step] is the k-th root of unity of this size.
void join(Complex* even, Complex* odd, Complex const* roots, long step, long from, long to) {
  if (to - from > alone) {
    long const middle = from + (to - from) / 2;
#pragma omp task
    join(even, odd, roots, step, from, middle);
#pragma omp task
    join(even, odd, roots, step, middle, to);
#pragma omp taskwait
    return;
  }
  for (long k = from; k < to; ++k) {
    Complex const turned = times(roots[k * step], odd[k]);
    odd[k] = even[k] - turned;
    even[k] += turned;
  }
}

// The transform of from[0], from[stride], ... to `to`.
void transform(Complex const* from, long stride, Complex* to, long n, Complex const* roots) {
  if (n == 1) {
    *to = *from;
    return;
  }
  long const half = n / 2;
#pragma omp task if (n > alone)
  transform(from, 2 * stride, to, half, roots);
#pragma omp task if (n > alone)
  transform(from + stride, 2 * stride, to + half, half, roots);
#pragma omp taskwait
  join(to, to + half, roots, stride, 0, half);
}

}  // namespace

int main(int argc, char** argv) {
  long const n = task_program::size_from(argc, argv, 1 << 18, {2, 1 << 26, true});
  auto const size = static_cast<std::size_t>(n);
  std::vector<Complex> signal(size), roots(size), back(size), spectrum(size), again(size);
  double const turn = 2 * std::acos(-1.0) / static_cast<double>(n);
  task_program::Sequence numbers(1);
  for (std::size_t i = 0; i < size; ++i) {
    signal[i] = {numbers.fraction(), numbers.fraction()};
    roots[i] = std::polar(1.0, -turn * static_cast<double>(i));
    back[i] = std::conj(roots[i]);
  }
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    transform(signal.data(), 1, spectrum.data(), n, roots.data());
  });
  // The inverse gives the signal again, and the first number is the sum.
  transform(spectrum.data(), 1, again.data(), n, back.data());
  double worst = 0;
  Complex sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    worst = std::max(worst, std::abs(again[i] / static_cast<double>(n) - signal[i]));
    sum += signal[i];
  }
  return task_program::report(seconds, worst < 1e-10 && std::abs(sum - spectrum[0]) < 1e-6);
}
