// SPDX-License-Identifier: Apache-2.0
// Policies as a table for people, and as results for scripts.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nigh/topology.hpp>
#include <stdexcept>

#include "bench/coordinator/studies.hpp"
#include "bench/processes.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "platform/progress.hpp"
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
  auto const prefix = std::filesystem::path(libexec_folder()) / ".." / "..";
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
  nigh::platform::Progress progress(
      static_cast<int>(study.cells.size() * static_cast<std::size_t>(o.repetitions)));
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

namespace {

template <class Number>
std::vector<double> samples(PolicyCell const& cell, Number number) {
  std::vector<double> all;
  for (PolicyRun const& run : cell.runs) all.push_back(number(run));
  return all;
}

struct Figures {  // medians over the runs
  double p50_us, p99_us, miss_rate, local, total, weighted, local_per_link;

  explicit Figures(PolicyCell const& c)
      : p50_us(median_of(samples(c, [](PolicyRun const& r) { return r.p50_us; }))),
        p99_us(median_of(samples(c, [](PolicyRun const& r) { return r.p99_us; }))),
        miss_rate(median_of(samples(c, [](PolicyRun const& r) { return r.sums.miss_rate(); }))),
        local(median_of(
            samples(c, [](PolicyRun const& r) { return r.sums.per_request(r.sums.local); }))),
        total(median_of(
            samples(c, [](PolicyRun const& r) { return r.sums.per_request(r.sums.total); }))),
        weighted(median_of(
            samples(c, [](PolicyRun const& r) { return r.sums.per_request(r.sums.weighted); }))),
        local_per_link(
            median_of(samples(c, [](PolicyRun const& r) { return r.sums.local_per_link(); }))) {}
};

std::string percent_less(double value, double than) {
  return fmt::format("{:+.0f}%", 100 * (value / than - 1));
}

}  // namespace

std::string describe(PolicyStudy const& s) {
  std::string text = fmt::format(
      "Which cpus a region gets: {} semi-random requests, medians of {} seeds; distances between "
      "a\n"
      "team's threads: of a pair with consecutive numbers (link), and as sums over a team of\n"
      "consecutive ones (local), all pairs (total), all pairs by nearness of numbers (weighted)\n",
      s.options.requests, s.options.repetitions);
  for (std::size_t at = 0; at < s.cells.size();) {
    PolicyCell const& first = s.cells[at];
    Table t;
    t.row({"", "link", "of random", "of nearest", "local", "total", "weighted", "missed N",
           "us p50", "us p99"});
    t.rule();
    double const random = Figures(s.beside(first, "random")).local_per_link;
    double const nearest = Figures(s.beside(first, "nearest")).local_per_link;
    for (; at < s.cells.size() && s.cells[at].machine == first.machine; ++at) {
      PolicyCell const& cell = s.cells[at];
      Figures const f(cell);
      t.row({cell.policy, fmt::format("{:.2f}", f.local_per_link),
             percent_less(f.local_per_link, random), percent_less(f.local_per_link, nearest),
             fmt::format("{:.1f}", f.local), fmt::format("{:.0f}", f.total),
             fmt::format("{:.0f}", f.weighted), fmt::format("{:.1f}%", 100 * f.miss_rate),
             cell.is_timed ? fmt::format("{:.2f}", f.p50_us) : "",
             cell.is_timed ? fmt::format("{:.2f}", f.p99_us) : ""});
    }
    text += fmt::format("\n{}: {} cpus, {} programs\n\n{}", first.machine, first.cpus,
                        first.programs, t.text());
  }
  return text;
}

std::vector<Result> results(PolicyStudy const& s) {
  std::vector<Result> all;
  for (PolicyCell const& cell : s.cells) {
    Figures const f(cell);
    Result r;
    r.bench = "coordinator/policies";
    r.variant = cell.policy;
    r.params = {{"machine", cell.machine},
                {"cpus", static_cast<long>(cell.cpus)},
                {"programs", static_cast<long>(cell.programs)},
                {"requests", s.options.requests},
                {"seed", s.options.seed}};
    r.metric = "local_distance_per_link";
    r.unit = "distance";
    r.samples = samples(cell, [](PolicyRun const& run) { return run.sums.local_per_link(); });
    r.counters = {
        {"local_distance", f.local},
        {"total_distance", f.total},
        {"weighted_distance", f.weighted},
        {"miss_rate", f.miss_rate},
        {"of_random", f.local_per_link / Figures(s.beside(cell, "random")).local_per_link},
        {"of_nearest", f.local_per_link / Figures(s.beside(cell, "nearest")).local_per_link}};
    if (cell.is_timed) {
      r.counters["decision_p50_us"] = f.p50_us;
      r.counters["decision_p99_us"] = f.p99_us;
    }
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace bench
