// SPDX-License-Identifier: Apache-2.0
// The paper's programs: known facts, and assumptions.
//
// Known: names, sizes and regions, in the order of slide 7. Its bars, the threads that each region
// can use, grow in that order; their heights are not in the text. The benchmarks' iterations (mg:
// times levels; cg: times inner ones), each of which enters each region once.
// Assumed:
// - optimal threads grow evenly from 2 to 32 along that order; maxima from 4 on, to 32 at two
//   thirds of it. A region's Amdahl part and its cost a thread are what gives these two. Of steeper
//   and flatter growths that were tried, this one is the plainest.
// - a region's part of its program's work is proportional to its optimal threads.
// - seconds on one core: the benchmarks' nominal operations at 0.9 Gop/s, cg and is at 0.3; sizes
//   of gauss and mmul so that they are alike.
// - time that waits for memory, and traffic between threads, by the program's kind.

#include "sim/hosts/programs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/assert.hpp"
#include "policy/cpus/core_allocation.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

namespace {

constexpr std::string_view slide_7[] = {
    "bt.B_130",  "lu.C_3085", "mg.A_1105",  "mg.A_961",   "lu.A_120",  "gauss.S_40",
    "mg.B_961",  "mg.A_236",  "gauss.L_20", "mg.C_1091",  "mg.C_961",  "mg.B_236",
    "mg.A_271",  "cg.A_254",  "gauss.S_20", "mg.C_236",   "mg.B_1091", "cg.B_254",
    "is.A_638",  "cg.C_254",  "mg.B_271",   "is.B_638",   "cg.A_740",  "gauss.M_40",
    "mmul.L_18", "mg.C_271",  "mg.C_1105",  "cg.B_740",   "cg.A_785",  "mmul.M_18",
    "lu.C_120",  "cg.C_740",  "mg.B_1105",  "cg.B_785",   "mg.A_230",  "lu.A_3049",
    "is.A_652",  "ft.A_145",  "ft.A_123",   "gauss.M_20", "mmul.S_18", "cg.C_785",
    "mg.B_230",  "is.B_652",  "ft.B_145",   "ft.B_123",   "ep.B_144",  "cg.A_171",
    "cg.A_644",  "bt.A_149",  "bt.B_149",   "lu.C_3049",  "ep.C_144",  "mg.C_230",
    "cg.B_171",  "cg.B_644",  "mg.A_1091",  "cg.C_171",   "cg.C_644",  "lu.A_3085",
    "ep.A_144",  "bt.A_130",  "gauss.L_40"};
constexpr double machine_threads = 32;  // of the paper's machine

struct ProgramKind {
  std::string_view name;
  double memory, exchange;
};

constexpr ProgramKind kinds[] = {{"bt", 0.30, 0.25}, {"lu", 0.35, 0.30},    {"mg", 0.55, 0.25},
                                 {"cg", 0.55, 0.40}, {"is", 0.50, 0.50},    {"ft", 0.40, 0.50},
                                 {"ep", 0.00, 0.00}, {"gauss", 0.45, 0.40}, {"mmul", 0.15, 0.30}};

struct Size {
  std::string_view name;
  double seconds;
  int iterations;
};

constexpr Size sizes[] = {
    {"bt.A", 187, 200},     {"bt.B", 801, 200},     {"lu.A", 133, 250},    {"lu.C", 2266, 250},
    {"mg.A", 4.3, 4 * 8},   {"mg.B", 21, 20 * 8},   {"mg.C", 173, 20 * 9}, {"cg.A", 5, 15 * 25},
    {"cg.B", 182, 75 * 25}, {"cg.C", 478, 75 * 25}, {"is.A", 0.26, 10},    {"is.B", 1.1, 10},
    {"ft.A", 7.9, 6},       {"ft.B", 102, 20},      {"ep.A", 26, 1},       {"ep.B", 104, 1},
    {"ep.C", 416, 1},       {"gauss.S", 20, 2000},  {"gauss.M", 80, 3000}, {"gauss.L", 320, 5000},
    {"mmul.S", 20, 1},      {"mmul.M", 80, 1},      {"mmul.L", 320, 1}};

constexpr double serial_share = 0.01;  // of a program's work, between regions

// Half of what efficiency may lack at the optimum, a fifth of the time, is the cost of meeting.
RegionProfile region_at(std::size_t rank) {
  double const along = static_cast<double>(rank) / static_cast<double>(std::size(slide_7) - 1);
  double const optimal = 2 + (machine_threads - 2) * along;
  double const maximum = std::min(machine_threads, 4 + (machine_threads - 4) * along * 1.5);
  RegionProfile region;
  region.name = slide_7[rank];
  region.per_thread = std::min(1 / (maximum * maximum), 0.125 / (optimal * optimal));
  region.serial = (0.25 / optimal - region.per_thread * optimal) / (1 - 1 / optimal);
  region.work_s = optimal;  // relative, so far
  return region;
}

std::vector<ProgramProfile> profiles() {
  std::vector<ProgramProfile> all;
  for (Size const& size : sizes) {
    ProgramProfile p;
    p.name = size.name;
    p.rounds = std::clamp(static_cast<int>(size.seconds), 5, 60);
    p.between_s = size.seconds * serial_share / p.rounds;
    for (std::size_t rank = 0; rank < std::size(slide_7); ++rank)
      if (slide_7[rank].starts_with(p.name + "_")) p.regions.push_back(region_at(rank));
    NIGH_ASSERT(!p.regions.empty(), "each size is in the slide");
    auto const kind = std::find_if(std::begin(kinds), std::end(kinds), [&](ProgramKind const& k) {
      return p.name.starts_with(std::string(k.name) + ".");
    });
    double sum = 0;
    for (RegionProfile const& r : p.regions) sum += r.work_s;
    for (RegionProfile& r : p.regions) {
      r.work_s *= size.seconds * (1 - serial_share) / sum;
      r.memory = kind->memory;
      r.exchange = kind->exchange;
      r.entries = std::max(size.iterations, p.rounds);
    }
    all.push_back(std::move(p));
  }
  return all;
}

}  // namespace

double ProgramProfile::work_s() const noexcept {
  double sum = between_s * rounds;
  for (RegionProfile const& r : regions) sum += r.work_s;
  return sum;
}

std::vector<ProgramProfile> const& paper_programs() {
  static std::vector<ProgramProfile> const all = profiles();
  return all;
}

std::vector<int> random_programs(int count, std::uint64_t seed) {
  Random random(seed);
  std::vector<int> chosen, left;
  while (static_cast<int>(chosen.size()) < count) {
    if (left.empty()) {
      for (std::size_t p = 0; p < paper_programs().size(); ++p) left.push_back(static_cast<int>(p));
      random.shuffle(left);
    }
    chosen.push_back(left.back());
    left.pop_back();
  }
  return chosen;
}

namespace {

struct Nobody {  // waits for the flows
  void happen(Event const&) {}
  void ended(FlowId) {}
};

double seconds_with(Machine const& machine, policy::CoreMap const& map, RegionProfile const& region,
                    int threads) {
  auto const team = policy::decide(map, {.how = policy::CoreAllocation::nearest},
                                   policy::PositionSet::all(map.size()), {{threads, threads}, 0});
  Simulation simulation;
  MemorySystem memory(machine, map, simulation.network);
  MemoryNeed const need{region.memory, region.exchange};
  auto const& cpus = team.positions;
  auto const n = cpus.size();
  auto const run_to_end = [&] {
    Nobody nobody;
    while (simulation.step(nobody)) {
    }
  };
  auto const domain = [&](std::size_t thread) { return memory.domain_of(cpus[thread % n]); };
  memory.start(simulation.now(), region.work_s * region.serial, {cpus[0], domain(0), -1}, need);
  run_to_end();
  for (std::size_t t = 0; t < n; ++t)
    memory.start(simulation.now(), region.work_s * (1 - region.serial) / static_cast<double>(n),
                 {cpus[t], domain(t), n > 1 ? domain(t + 1) : -1}, need);
  run_to_end();
  return seconds(simulation.now()) + threads * (region.work_s * region.per_thread +
                                                region.entries * machine.barrier_ns.value * 1e-9);
}

}  // namespace

std::vector<double> seconds_by_threads(Machine const& machine, policy::CoreMap const& map,
                                       RegionProfile const& region) {
  std::vector<double> all;
  for (int n = 1; n <= map.size(); ++n) all.push_back(seconds_with(machine, map, region, n));
  return all;
}

policy::ThreadDemand demand_of(std::vector<double> const& all) {
  constexpr double near_ideal = 0.8, some = 1.01;
  int const shortest = static_cast<int>(std::min_element(all.begin(), all.end()) - all.begin());
  policy::ThreadDemand demand;
  for (int n = shortest + 1; n >= 1; --n)
    if (all[static_cast<std::size_t>(n - 1)] <= some * all[static_cast<std::size_t>(shortest)])
      demand.maximum = n;
  for (int n = 1; n <= demand.maximum; ++n)
    if (all[0] >= near_ideal * n * all[static_cast<std::size_t>(n - 1)]) demand.optimal = n;
  return demand;
}

}  // namespace nigh::sim
