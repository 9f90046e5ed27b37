// SPDX-License-Identifier: Apache-2.0
#include "bench/coordinator/policies.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nigh/topology.hpp>
#include <stdexcept>

#include "bench/progress.hpp"
#include "sim/machine.hpp"

namespace bench {

namespace {

struct Machine {
  std::string name;
  policy::CoreMap map;
  int programs;  // about five cpus each, as the paper has them
};

policy::CoreMap map_of(char const* description) {
  auto const machine = nigh::topology::from_synthetic(description);
  if (!machine) throw std::runtime_error(machine.message());
  return policy::CoreMap::of(*machine);
}

// Among the machines that come with nigh, beside the driver's folder.
policy::CoreMap paper_machine() {
  auto const driver = std::filesystem::read_symlink("/proc/self/exe");
  auto const prefix = driver.parent_path() / ".." / "..";
  auto const machine = nigh::sim::find_machine("sun-x4600", prefix / "share" / "nigh" / "machines");
  if (!machine) throw std::runtime_error(machine.message());
  return machine->core_map();
}

std::vector<Machine> machines() {
  std::vector<Machine> all;
  all.push_back({"8 sockets x 4 (Sun X4600)", paper_machine(), 6});
  all.push_back({"16 domains x 16", map_of("pack:16 l3:2 core:8 pu:1"), 50});
  all.push_back({"16 domains x 64", map_of("pack:16 l3:8 core:8 pu:1"), 200});
  return all;
}

double percentile(std::vector<double>& values, double part) {
  auto const nth =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

// The clock's own time, some 30 ns, is in each decision's.
PolicyRun run_policy(Machine const& machine, policy::CoreAllocation how, PolicyOptions const& o,
                     std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> us;
  us.reserve(static_cast<std::size_t>(o.requests));
  PolicyRun run;
  run.sums = nigh::sim::play_requests(
      machine.map, machine.programs, static_cast<int>(o.requests), seed,
      [&](policy::PositionSet const& free, policy::CoreRequest const& request) {
        auto const start = Clock::now();
        auto decision = policy::decide(machine.map, {.how = how}, free, request);
        us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
        return decision;
      });
  run.p50_us = percentile(us, 0.50);
  run.p99_us = percentile(us, 0.99);
  return run;
}

PolicyRun run_random(Machine const& machine, PolicyOptions const& o, std::uint64_t seed) {
  nigh::sim::Random random(seed);
  PolicyRun run;
  run.sums = nigh::sim::play_requests(
      machine.map, machine.programs, static_cast<int>(o.requests), seed,
      [&](policy::PositionSet const& free, policy::CoreRequest const& request) {
        return nigh::sim::scattered(machine.map, free, request, random);
      });
  return run;
}

}  // namespace

PolicyStudy study_policies(PolicyOptions const& o) {
  PolicyStudy study{o, {}};
  auto const all = machines();
  for (Machine const& m : all) {
    study.cells.push_back({m.name, m.map.size(), m.programs, "random", false, {}});
    for (auto const name : policy::core_allocation_names)
      study.cells.push_back({m.name, m.map.size(), m.programs, std::string(name), true, {}});
  }
  Progress progress(static_cast<int>(study.cells.size() * static_cast<std::size_t>(o.repetitions)));
  for (long repetition = 0; repetition < o.repetitions; ++repetition) {
    auto cell = study.cells.begin();
    auto const seed = static_cast<std::uint64_t>(o.seed + repetition);
    for (Machine const& m : all) {
      progress.step(m.name);
      (cell++)->runs.push_back(run_random(m, o, seed));
      for (std::size_t how = 0; how < policy::core_allocation_names.size(); ++how) {
        progress.step(m.name);
        (cell++)->runs.push_back(run_policy(m, static_cast<policy::CoreAllocation>(how), o, seed));
      }
    }
  }
  return study;
}

PolicyCell const& PolicyStudy::beside(PolicyCell const& cell, std::string_view policy) const {
  return *std::find_if(cells.begin(), cells.end(), [&](PolicyCell const& other) {
    return other.machine == cell.machine && other.policy == policy;
  });
}

}  // namespace bench
