// SPDX-License-Identifier: Apache-2.0
// Policies as a table for people, and as results for scripts.
#include <fmt/core.h>

#include "bench/coordinator/policies.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

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
