// SPDX-License-Identifier: Apache-2.0
#pragma once
// The statements of "CSE 539S final project report" (Hua, Atik) about MG on two sockets, held
// against simulated runs. Its figures have no numbers in the text; orderings and turning points can
// be checked.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/mg/multigrid.hpp"

namespace nigh::sim {

// One way of running it, with more and more threads.
struct MgCurve {
  MgCase what;                      // threads: the most there are
  std::vector<double> seconds;      // [count]: of all iterations
  std::vector<MgOutcome> outcomes;  // [count]
};

struct MgStudy {
  std::vector<int> threads;     // how many, ascending; the first is 1
  std::vector<MgCurve> curves;  // the first is OpenMP's static compact one with first touch

  double speedup(MgCurve const& curve, std::size_t count) const {
    return curves.front().seconds.front() / curve.seconds[count];
  }
  double mean_speedup(MgCurve const& curve) const;  // over all counts of threads
  // Null when it was not simulated.
  MgCurve const* find(Framework framework, bool dynamic, cpu_order order, MgPages pages) const;
};

// NPB's classes: points a side as a power of two, and how many iterations.
struct MgClass {
  char name;
  int finest, iterations;
};
inline constexpr std::array<MgClass, 4> mg_classes{
    {{'W', 7, 4}, {'A', 8, 4}, {'B', 8, 20}, {'C', 9, 20}}};

// Up to 32 threads every second number of them, beyond 16 numbers; those that fill a socket.
std::vector<int> mg_thread_counts(Machine const& machine);
// Each framework and schedule, compact and scatter, by first touch and interleaved.
std::vector<MgCase> mg_cases(Machine const& machine, MgClass const& size);
MgStudy study_mg(Machine const& machine, std::vector<MgCase> const& cases,
                 std::vector<int> const& threads, std::uint64_t seed);

struct MgStatement {
  std::string text;       // what is published
  std::string simulated;  // figures
  bool holds = false;
};

// Of machines with two sockets.
std::vector<MgStatement> statements(MgStudy const& study, Machine const& machine);

std::string name_of(MgCase const& what);  // "openmp/static"
std::string_view name_of(cpu_order order);
std::string_view name_of(MgPages pages);

}  // namespace nigh::sim
