// SPDX-License-Identifier: Apache-2.0
#pragma once
// Problems that grow tasks out of tasks, each solved by several runtimes from one config. Drivers
// and tests go through problems() and need not know any of them.

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
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

// Which families were built into this program, and how a problem calls the right one.

#if defined(NIGH_WITH_OPENMP)
inline constexpr bool has_openmp = true;
#else
inline constexpr bool has_openmp = false;
#endif
#if defined(NIGH_WITH_TBB)
inline constexpr bool has_tbb = true;
#else
inline constexpr bool has_tbb = false;
#endif
#if defined(NIGH_PEER)  // the program that holds another compiler's OpenMP holds nothing else
inline constexpr bool has_nigh = false;
#else
inline constexpr bool has_nigh = true;
#endif

// Calls the family's function. Those of families that were not built need no definition.
template <auto serial, auto openmp, auto tbb, auto nigh, class... A>
auto call(Family family, A&&... arguments) {
  if (family == Family::serial) return serial(std::forward<A>(arguments)...);
  if constexpr (has_openmp)
    if (family == Family::openmp) return openmp(std::forward<A>(arguments)...);
  if constexpr (has_tbb)
    if (family == Family::tbb) return tbb(std::forward<A>(arguments)...);
  if constexpr (has_nigh)
    if (family == Family::nigh) return nigh(std::forward<A>(arguments)...);
  throw std::logic_error(name_of(family) + ": " + why_absent(family));
}

// An instance whose answer is the number it was asked for.

template <class Config, auto serial, auto openmp, auto tbb, auto nigh>
class Counting : public Instance {
 public:
  Counting(Config config, Answer expected, std::uint64_t spawns)
      : config_(config), expected_(expected), spawns_(spawns) {}

  void solve(Family family) override { found_ = call<serial, openmp, tbb, nigh>(family, config_); }
  Answer answer() const override { return found_; }
  Answer expected() override { return expected_; }
  std::uint64_t spawns() const override { return spawns_; }

 private:
  Config config_;
  Answer expected_;
  std::uint64_t spawns_;
  Answer found_ = 0;
};

}  // namespace workloads
