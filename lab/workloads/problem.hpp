// SPDX-License-Identifier: Apache-2.0
#pragma once
// Problems that grow tasks out of tasks, each solved by several runtimes from one config. Drivers
// and tests go through problems() and need not know any of them.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace workloads {

enum class Family : std::uint8_t { serial, openmp, tbb, nigh };

inline constexpr Family families[] = {Family::serial, Family::openmp, Family::tbb, Family::nigh};

// "serial", "openmp-gcc", ...: OpenMP's runtime comes with the compiler, so that is part of the
// name.
std::string name_of(Family family);
std::string why_absent(Family family);  // empty: it was built

// The number that was asked for, or a checksum of the output: equal answers, equal bits.
using Answer = std::uint64_t;

// One problem in one size. Call prepare(), solve(), answer(), in this order, as often as you like.
class Instance {
 public:
  virtual ~Instance() = default;
  virtual void prepare() {}                  // makes the input of the next solve()
  virtual void solve(Family family) = 0;     // inside a Team of that family; this is what is timed
  virtual Answer answer() const = 0;         // of the last solve()
  virtual Answer expected() = 0;             // known beforehand, or found by the serial variant
  virtual std::uint64_t spawns() const = 0;  // tasks made when there is no cutoff, 0: not known
};

struct Problem {
  std::string name;
  std::string sizes;  // for messages: what a size looks like
  std::vector<std::string> tiny, usual, large;
  // cutoff: depth of the recursion below which no tasks are made, 0: none. A size that is none is
  // std::invalid_argument.
  std::unique_ptr<Instance> (*make)(std::string const& size, int cutoff) = nullptr;
};

std::span<Problem const> problems();
Problem const* find_problem(std::string_view name);

// One function for each file that adds problems.
Problem fib_problem();
Problem nqueens_problem();
Problem uts_problem();
Problem sparselu_problem();
Problem strassen_problem();
Problem mergesort_problem();
Problem quicksort_problem();

}  // namespace workloads
