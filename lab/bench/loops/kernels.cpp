// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/kernels.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace bench {

namespace {

template <class F>
double time(F const& f) {
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

double sum_of(double const* x, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

TriadArrays::TriadArrays(std::size_t n, Loops const& first_touch)
    : n_(n),
      a_(std::make_unique_for_overwrite<double[]>(n)),
      b_(std::make_unique_for_overwrite<double[]>(n)),
      c_(std::make_unique_for_overwrite<double[]>(n)) {
  first_touch.fill(n_, FillElement{a_.get(), b_.get(), c_.get()});
}

double TriadArrays::seconds(Loops const& loops, std::string const& schedule) {
  TriadElement const body{a_.get(), b_.get(), c_.get()};
  std::size_t const marks = std::min<std::size_t>(n_, 1000);
  auto const mark = [&](std::size_t m) -> double& { return a_[m * (n_ / marks)]; };
  for (std::size_t m = 0; m < marks; ++m) mark(m) = -1;
  double const seconds = time([&] { loops.triad(schedule, n_, body); });
  for (std::size_t m = 0; m < marks; ++m)
    if (mark(m) != static_cast<double>(m * (n_ / marks) % 1000) + 3)
      throw std::runtime_error("triad: a wrong element");
  return seconds;
}

Triangle::Triangle(std::size_t rows, bool falling) : falling_(falling), x_(rows, 1), sums_(rows) {}

double Triangle::seconds(Loops const& loops, std::string const& schedule) {
  std::fill(sums_.begin(), sums_.end(), -1);
  TriangleRow const body{x_.data(), sums_.data(), sums_.size(), falling_};
  double const seconds = time([&] { loops.triangle(schedule, sums_.size(), body); });
  for (std::size_t i = 0; i < sums_.size(); ++i)
    if (sums_[i] != static_cast<double>(falling_ ? sums_.size() - i : i + 1))
      throw std::runtime_error("triangle: a wrong row");
  return seconds;
}

}  // namespace bench
