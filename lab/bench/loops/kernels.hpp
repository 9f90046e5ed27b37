// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bodies of the loops: a triad, which waits for memory, and a triangle, whose rows differ in
// length. Each runtime calls them in its own way, and inlines them where it can.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

struct FillElement {
  double *a, *b, *c;
  void operator()(std::size_t i) const {
    a[i] = 0;
    b[i] = static_cast<double>(i % 1000);
    c[i] = 1;
  }
};

struct TriadElement {
  double* a;
  double const *b, *c;
  void operator()(std::size_t i) const { a[i] = b[i] + 3 * c[i]; }
};

// Compiled once, for all runtimes.
double sum_of(double const* x, std::size_t n);

struct TriangleRow {
  double const* x;
  double* sums;
  std::size_t rows;
  bool falling;  // the longest row first
  void operator()(std::size_t i) const { sums[i] = sum_of(x, falling ? rows - i : i + 1); }
};

// One runtime's loops over [0, n) on the cpus it was made for, by the name of a schedule.
struct Loops {
  std::function<void(std::size_t n, FillElement const&)> fill;  // as static does
  std::function<void(std::string const& schedule, std::size_t n, TriadElement const&)> triad;
  std::function<void(std::string const& schedule, std::size_t n, TriangleRow const&)> triangle;
};

Loops nigh_loops(std::vector<int> const& cpus);
Loops openmp_loops(std::vector<int> const& cpus);
Loops tbb_loops(std::vector<int> const& cpus);

// Both take the time of one run, and check what it has computed: std::runtime_error.
class TriadArrays {
 public:
  TriadArrays(std::size_t n, Loops const& first_touch);
  double seconds(Loops const& loops, std::string const& schedule);

 private:
  std::size_t n_;
  std::unique_ptr<double[]> a_, b_, c_;
};

class Triangle {
 public:
  Triangle(std::size_t rows, bool falling);
  double seconds(Loops const& loops, std::string const& schedule);

 private:
  bool falling_;
  std::vector<double> x_, sums_;
};

}  // namespace bench
